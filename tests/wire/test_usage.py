"""Tokens are counted for every answer, and shown to those who ask."""

from pathlib import Path

import pytest

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import Behaviour, EngineCall
from tests.support.gateways import gateway_over
from tests.support.raw_client import connected
from tests.support.requests import chat

ASKED = {"include_usage": True}


def stream_separated_by(separator: bytes, *, piece_bytes: int = 0) -> Behaviour:
    """Three tokens, usage and the end, with other line ends than usual and cut at will."""
    events = [b'{"choices":[{"index":0,"delta":{"content":"%b"}}]}' % word for word in (b"a", b"b", b"c")]
    events.append(b'{"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":3}}')
    body = b"".join(b"data: %b%b" % (event, separator) for event in [*events, b"[DONE]"])

    async def behave(call: EngineCall) -> None:
        call.head(200, *behaviours.EVENT_STREAM)
        size = piece_bytes or len(body)
        for start in range(0, len(body), size):
            call.chunk(body[start : start + size])
        call.write(b"0\r\n\r\n")

    return behave


async def test_usage_is_withheld_from_a_client_that_did_not_ask_and_written_down_all_the_same(tmp_path: Path) -> None:
    async with gateway_over(behaviours.stream(4), records=tmp_path / "records") as rig:
        async with connected(rig.port) as client:
            without, given = (
                await client.ask(chat(stream=True)),
                await client.ask(chat(stream=True, stream_options=ASKED)),
            )
            whole = await client.ask(chat())
        assert b"usage" not in without.body
        assert given.events[:-2] == without.events[:-1]
        assert b'"usage":{"prompt_tokens":7,"completion_tokens":4' in given.events[-2]
        assert whole.json["usage"]["completion_tokens"] == 4
        records = await rig.wait_records(3)
        assert [(one.prompt_tokens, one.completion_tokens, one.is_estimated) for one in records] == [(7, 4, False)] * 3
        assert [one.stream for one in records] == [True, True, False]
        assert [one.ttft_ms is not None for one in records] == [True, True, False], "nobody sees it of a whole answer"
        assert all(one.total_ms >= (one.ttft_ms or 0.0) > 0.0 for one in records[:2])


@pytest.mark.parametrize("separator", [b"\n\n", b"\r\n\r\n", b"\n\n\n", b"\r\n\r\n\r\n"])
@pytest.mark.parametrize("piece_bytes", [0, 1, 2, 7, 50])
async def test_events_may_end_either_way_and_be_cut_anywhere(
    separator: bytes, piece_bytes: int, tmp_path: Path
) -> None:
    behaviour = stream_separated_by(separator, piece_bytes=piece_bytes)
    async with gateway_over(behaviour, records=tmp_path / "records") as rig, connected(rig.port) as client:
        answer = await client.ask(chat(stream=True))
        assert answer.text == "abc"
        assert answer.events[-1] == b"[DONE]"
        assert b"usage" not in answer.body
        [record] = await rig.wait_records(1)
        assert (record.prompt_tokens, record.completion_tokens, record.status) == (11, 3, 200)


async def test_without_a_count_from_the_engine_the_record_says_it_is_an_estimate(tmp_path: Path) -> None:
    async def behave(call: EngineCall) -> None:
        call.head(200, *behaviours.EVENT_STREAM)
        for _ in range(3):
            call.event(behaviours.chat_event("x"))
        call.event(b"[DONE]")
        call.write(b"0\r\n\r\n")

    async with gateway_over(behave, records=tmp_path / "records") as rig, connected(rig.port) as client:
        assert (await client.ask(chat(stream=True))).text == "xxx"
        [record] = await rig.wait_records(1)
        assert record.is_estimated
        assert 1 < record.prompt_tokens < 20  # of the few bytes that are all it can go by
        assert record.completion_tokens >= 3


async def test_text_in_tools_is_booked_where_the_engine_does_not_count(tmp_path: Path) -> None:
    async def behave(call: EngineCall) -> None:
        call.whole(200, {**behaviours.chat_answer(), "usage": None})

    tools = [{"type": "function", "function": {"name": "f", "description": "some words that say nothing " * 14_000}}]
    async with gateway_over(behave, records=tmp_path / "records") as rig, connected(rig.port) as client:
        assert (await client.ask(chat(tools=tools))).status == 200
        [record] = await rig.wait_records(1)
        assert record.is_estimated
        assert 70_000 < record.prompt_tokens < 130_000
