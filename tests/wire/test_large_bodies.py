"""Large bodies and answers are worked on beside the worker, and nobody sees a difference."""

import asyncio
import os
import signal
from pathlib import Path

import msgspec

from heterodyne.domain.tenant import Scopes
from heterodyne.gateway.body_size import COMMAS_MAX, ESCAPES_MAX, LARGE_BYTES, OPENINGS_MAX, SMALL_BYTES, is_large
from heterodyne.gateway.offload.answering import ANSWER_BYTES_LARGE
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import EngineCall, ScriptedEngine
from tests.support.gateways import gateway_over
from tests.support.raw_client import connected
from tests.support.requests import chat, chat_body, post
from tests.support.tenants import bearer, caller, tenants

LONG = "long, " * (LARGE_BYTES // 4)
MESSAGES = [{"role": "user", "content": LONG}]


def beside_us() -> list[int]:
    """The processes that read large bodies for gateways in this one."""
    children = map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())
    return [pid for pid in children if b"offload_process" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_text_is_large_by_its_length_and_values_by_their_number() -> None:
    assert not is_large(b"[" + b"," * (SMALL_BYTES - 1))
    assert not is_large(b"a" * LARGE_BYTES)
    assert is_large(b"a" * (LARGE_BYTES + 1))
    assert is_large(b"a" * SMALL_BYTES + b"," * (2 * COMMAS_MAX))
    assert is_large(b"a" * SMALL_BYTES + b"\\n" * (2 * ESCAPES_MAX))
    assert not is_large(b"a" * 4 * SMALL_BYTES + b"{" * OPENINGS_MAX + b"," * (COMMAS_MAX // 2))
    assert is_large(b"a" * SMALL_BYTES + b"[" * (OPENINGS_MAX + 1))


async def test_a_large_body_reaches_the_engine_byte_for_byte() -> None:
    body = chat_body(messages=MESSAGES, odd={"b": [1, 2], "a": None})
    opened = {"allow_fields": ("odd",)}
    async with gateway_over(behaviours.answer(), pool=opened) as rig, connected(rig.port) as client:
        for _ in range(2):
            assert (await client.ask(post("/v1/chat/completions", body))).json["usage"]["completion_tokens"] == 3
        assert [call.body for call in rig.engine.calls] == [body, body]
        await rig.wait_empty()


async def test_a_large_stream_is_asked_for_its_usage() -> None:
    async with gateway_over(behaviours.stream(2)) as rig, connected(rig.port) as client:
        assert (await client.ask(chat(messages=MESSAGES, stream=True))).text == " hello hello"
        assert rig.engine.calls[0].json["stream_options"] == {"include_usage": True}
        assert rig.engine.calls[0].json["messages"] == MESSAGES


async def test_what_is_wrong_with_a_large_body_is_said_and_written_down(tmp_path: Path) -> None:
    records = tmp_path / "records"
    async with gateway_over(behaviours.answer(), records=records) as rig, connected(rig.port) as client:
        answer = await client.ask(chat(messages=[*MESSAGES, {"role": 1}]))
        assert (answer.status, answer.error["param"]) == (400, "messages[1].role")
        answer = await client.ask(chat(messages=MESSAGES, model="nobody's"))
        assert answer.status == 404
        assert (await client.ask(chat())).status == 200
        assert [record.reason for record in await rig.wait_records(3)] == ["invalid_value", "model_not_found", ""]
        await rig.wait_empty()


async def test_requests_behind_a_large_one_wait_for_their_turn() -> None:
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        bad, good = chat(messages=[*MESSAGES, {"role": 1}]), chat(messages=MESSAGES)
        await client.send(bad + good + chat())
        assert [(await client.answer()).status for _ in range(3)] == [400, 200, 200]
        assert len(rig.engine.calls[0].body) > LARGE_BYTES > len(rig.engine.calls[1].body)


async def test_an_output_scope_binds_a_large_request() -> None:
    callers = tenants(key=caller(scopes=(Scopes(output_tokens_max=5),)))
    async with gateway_over(behaviours.answer(), tenants=callers) as rig, connected(rig.port) as client:
        answer = await client.ask(chat(bearer("key"), messages=MESSAGES, max_tokens=None))
        assert answer.status == 200
        assert rig.engine.calls[0].json["max_tokens"] == 5


async def test_a_client_that_leaves_while_its_body_is_read_leaves_nothing_behind(tmp_path: Path) -> None:
    records = tmp_path / "records"
    async with gateway_over(behaviours.answer(), records=records) as rig:
        async with connected(rig.port) as client:
            await client.send(chat(messages=MESSAGES))
            async with asyncio.timeout(30):
                while not rig.holds().large_bodies:
                    await asyncio.sleep(0.001)
        assert [record.reason for record in await rig.wait_records(1)] == ["client_gone"]
        await rig.wait_empty()
        assert not rig.engine.calls


async def test_a_large_request_goes_on_elsewhere_when_its_replica_is_gone() -> None:
    gone, there = ScriptedEngine(behaviours.answer()), ScriptedEngine(behaviours.answer())
    async with gateway_over(gone, there) as rig, connected(rig.port) as client:
        await gone.close()
        for _ in range(4):
            assert (await client.ask(chat(messages=MESSAGES))).status == 200
        assert all(call.json["messages"] == MESSAGES for call in there.calls)


async def test_a_large_answer_arrives_whole_and_counted(tmp_path: Path) -> None:
    content, records = "x" * (3 * ANSWER_BYTES_LARGE), tmp_path / "records"
    async with gateway_over(behaviours.answer(content), records=records) as rig, connected(rig.port) as client:
        for _ in range(2):
            answer = await client.ask(chat())
            assert answer.json == msgspec.json.decode(msgspec.json.encode(behaviours.chat_answer(content)))
        assert {record.completion_tokens for record in await rig.wait_records(2)} == {3}
        await rig.wait_empty()


async def test_a_large_answer_that_is_no_json_is_the_engines_fault() -> None:
    async def garbage(call: EngineCall) -> None:
        call.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % (2 * ANSWER_BYTES_LARGE))
        call.write(b"}" * (2 * ANSWER_BYTES_LARGE))

    async with gateway_over(garbage) as rig, connected(rig.port) as client:
        assert (await client.ask(chat())).status == 502
        await rig.wait_empty()


async def test_the_process_that_reads_large_bodies_is_begun_again_when_it_was_killed() -> None:
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        assert (await client.ask(chat(messages=MESSAGES))).status == 200
        (first,) = beside_us()
        os.kill(first, signal.SIGKILL)
        async with asyncio.timeout(30):
            while (await client.ask(chat(messages=MESSAGES))).status != 200:
                await asyncio.sleep(0.01)
        (second,) = beside_us()
        assert second != first
    assert not beside_us()
