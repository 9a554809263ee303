"""Calls, schemas and lengths are looked at in every API, whole and streamed, however an answer comes about."""

import asyncio
import json
from typing import Any

import pytest

from heterodyne.caching.settings import CacheSettings
from heterodyne.safety.settings import GuardSettings
from heterodyne.testing.behaviours import EVENT_STREAM, chat_event
from heterodyne.testing.scripted_engine import EngineCall
from tests.caching.test_answers_again import spoken
from tests.guards.calling_engine import calling
from tests.guards.every_route import ASKED, GEMINI, Asked, request
from tests.guards.leaky_engine import saying
from tests.support.gateways import gateway_over
from tests.support.raw_client import ask
from tests.support.requests import MODEL, get, post

PARAMETERS = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
FUNCTION = {"name": "read", "description": "reads", "parameters": PARAMETERS}
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
MESSAGES = [{"role": "user", "content": "hi"}]
CONTENTS = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
GENERATE = f"{GEMINI}generateContent"
OFFERS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": MESSAGES, "tools": [{"type": "function", "function": FUNCTION}]},
    "/v1/responses": {"input": "hi", "tools": [{"type": "function", **FUNCTION}]},
    "/v1/messages": {"messages": MESSAGES, "max_tokens": 64, "tools": [{"name": "read", "input_schema": PARAMETERS}]},
    GENERATE: {**CONTENTS, "tools": [{"functionDeclarations": [FUNCTION]}]},
}
FORMAT = {"type": "json_schema", "name": "city", "schema": CITY}
SHAPED: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {
        "messages": MESSAGES,
        "response_format": {"type": "json_schema", "json_schema": {"name": "city", "schema": CITY}},
    },
    "/v1/responses": {"input": "hi", "text": {"format": FORMAT}},
    "/v1/messages": {
        "messages": MESSAGES,
        "max_tokens": 64,
        "output_config": {"format": {"type": "json_schema", "schema": CITY}},
    },
    GENERATE: {
        **CONTENTS,
        "generationConfig": {
            "responseMimeType": "application/json",
            "responseSchema": {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}, "required": ["city"]},
        },
    },
}
SAYS_FILTERED = {"/v1/messages": b'"refusal"', GENERATE: b'"SAFETY"'}
CALLS = {"calls": GuardSettings(guard="tool_calls", action="block", roots_allowed=("/work",))}
SHAPES = {"shapes": GuardSettings(guard="schema", action="block")}
GOOD, BAD = '{"path": "/work/notes"}', '{"path": "/etc/passwd"}'
LONG = {"more": "a" * 9_000}
LONG_GOOD, LONG_BAD = (json.dumps({**json.loads(one), **LONG}) for one in (GOOD, BAD))
STREAMED = [False, True]


def asking(path: str, fields: dict[str, Any], *, stream: bool) -> bytes:
    if path == GENERATE:
        return post(f"{GEMINI}streamGenerateContent?alt=sse" if stream else path, json.dumps(fields).encode())
    return post(path, json.dumps({"model": MODEL, **fields, **({"stream": True} if stream else {})}).encode())


@pytest.mark.parametrize("path", OFFERS)
@pytest.mark.parametrize("stream", STREAMED)
@pytest.mark.parametrize(("name", "arguments"), [
    ("read", BAD), ("read", '{"path": '), ("read", "{}"), ("write", GOOD), ("read", LONG_BAD),
])  # fmt: skip
async def test_a_bad_call_reaches_no_client(path: str, stream: bool, name: str, arguments: str) -> None:
    async with gateway_over(calling(name, arguments), guards=CALLS) as rig:
        answer = await ask(rig.port, asking(path, OFFERS[path], stream=stream))
        assert answer.status == 200
        assert "let me look" in spoken(answer)
        for leaked in (b"passwd", b"call_1", b'"write"', b"tool_use", b'"functionCall"', b'"function_call"'):
            assert leaked not in answer.body
        assert SAYS_FILTERED.get(path, b'"content_filter"') in answer.body


@pytest.mark.parametrize("path", OFFERS)
@pytest.mark.parametrize("stream", STREAMED)
@pytest.mark.parametrize("arguments", [GOOD, LONG_GOOD])
async def test_a_good_call_passes(path: str, stream: bool, arguments: str) -> None:
    engine = calling("read", arguments)
    async with gateway_over(engine, guards=CALLS) as rig, gateway_over(engine) as free:
        answer = await ask(rig.port, asking(path, OFFERS[path], stream=stream))
        plain = await ask(free.port, asking(path, OFFERS[path], stream=stream))
        for said in (b"/work/notes", b'"read"', b"let me look"):
            assert said in plain.body.replace(b"\\", b"") or stream
            assert said in answer.body
        assert SAYS_FILTERED.get(path, b'"content_filter"') not in answer.body


@pytest.mark.parametrize("path", SHAPED)
@pytest.mark.parametrize("stream", STREAMED)
@pytest.mark.parametrize(("text", "passes"), [('{"city": "Graz"}', True), ('{"city": 3}', False), ("Graz, so", False)])
async def test_an_answer_of_another_schema_reaches_no_client(path: str, stream: bool, text: str, passes: bool) -> None:
    async with gateway_over(saying(text, more=""), guards=SHAPES) as rig:
        answer = await ask(rig.port, asking(path, SHAPED[path], stream=stream))
        assert answer.status == 200
        assert spoken(answer) == (text if passes else "")
        assert (SAYS_FILTERED.get(path, b'"content_filter"') in answer.body) is not passes


WRITES = [asked for asked in ASKED if asked.speaks and asked.stream is not None and not asked.is_form]


@pytest.mark.parametrize("asked", WRITES, ids=lambda asked: asked.path)
@pytest.mark.parametrize("stream", STREAMED)
async def test_the_policys_own_schema_and_its_bound_hold_everywhere(asked: Asked, stream: bool) -> None:
    own = {"own": GuardSettings(guard="schema", action="block", json_schema=json.dumps(CITY))}
    async with gateway_over(saying("Graz"), guards=own) as rig:
        assert "Graz" not in spoken(await ask(rig.port, request(asked, "hello", stream=stream)))
    short = {"short": GuardSettings(guard="length", action="block", answer_chars_max=10)}
    async with gateway_over(saying("0123456789abc"), guards=short) as rig:
        answer = await ask(rig.port, request(asked, "hello", stream=stream))
        assert spoken(answer) == "0123456789"
        assert SAYS_FILTERED.get(asked.path, b'"content_filter"') in answer.body


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked.path)
async def test_a_prompt_that_is_too_long_reaches_no_engine(asked: Asked) -> None:
    short = {"short": GuardSettings(guard="length", action="block", prompt_chars_max=1000)}
    async with gateway_over(saying("fine"), guards=short) as rig:
        answer = await ask(rig.port, request(asked, "word " * 250))
        assert (answer.status, b"prompt_too_long" in answer.body, rig.engine.calls) == (400, True, [])
        assert b"content_filter" not in (await ask(rig.port, request(asked, "hello"))).body


@pytest.mark.parametrize("stream", STREAMED)
async def test_a_transcript_that_is_too_long_is_blocked(stream: bool) -> None:
    asked = next(one for one in ASKED if one.path == "/v1/audio/transcriptions")
    short = {"short": GuardSettings(guard="length", action="block", answer_chars_max=10)}
    async with gateway_over(saying("0123456789abc"), guards=short) as rig:
        answer = await ask(rig.port, request(asked, "hello", stream=stream))
        assert b"0123456789a" not in answer.body
        assert b"answer_too_long" in answer.body


async def test_results_without_a_call_and_calls_of_the_past_reach_no_engine() -> None:
    async with gateway_over(saying("fine"), guards=CALLS) as rig:
        made = {"id": "1", "type": "function", "function": {"name": "read", "arguments": BAD}}
        turns = [
            [*MESSAGES, {"role": "tool", "tool_call_id": "2", "content": "x"}],
            [
                *MESSAGES,
                {"role": "assistant", "tool_calls": [made]},
                {"role": "tool", "tool_call_id": "1", "content": "x"},
            ],
        ]
        rules = []
        for messages in turns:
            answer = await ask(rig.port, asking("/v1/chat/completions", {"messages": messages}, stream=False))
            assert (answer.status, answer.error["code"]) == (400, "content_filter")
            rules.append((answer.error["param"], answer.error["message"].split(": ")[1].split()[0]))
        assert rules == [
            ("messages[1].tool_call_id", "result_without_call"),
            ("messages[1].tool_calls[0].function.arguments", "path_outside"),
        ]
        item = {"type": "function_call", "call_id": "1", "name": "read", "arguments": BAD}
        output = {"type": "function_call_output", "call_id": "1", "output": "x"}
        answer = await ask(rig.port, asking("/v1/responses", {"input": [item, output]}, stream=False))
        assert answer.status == 400
        assert not rig.engine.calls


@pytest.mark.parametrize("then_stream", STREAMED)
@pytest.mark.parametrize(("fields", "engine", "guards"), [
    (OFFERS, calling("read", BAD), CALLS), (OFFERS, calling("read", LONG_BAD), CALLS), (SHAPED, saying("Graz"), SHAPES),
])  # fmt: skip
async def test_an_answer_that_was_kept_is_looked_at_again(
    then_stream: bool, fields: Any, engine: Any, guards: Any
) -> None:
    path = "/v1/chat/completions"
    async with gateway_over(engine, guards=guards, caches={"all": CacheSettings(sampled=True)}) as rig:
        for stream in (False, then_stream):
            answer = await ask(rig.port, asking(path, fields[path], stream=stream))
            assert b'"content_filter"' in answer.body
            assert b"passwd" not in answer.body
            assert b"Graz" not in answer.body
        assert len(rig.engine.calls) == 1


@pytest.mark.parametrize("stream", STREAMED)
async def test_long_requests_and_long_answers_are_looked_at_beside_the_worker(stream: bool) -> None:
    path = "/v1/chat/completions"
    more = [{"type": "function", "function": {**FUNCTION, "name": f"read_{number}"}} for number in range(200)]
    fields = {**OFFERS[path], "tools": OFFERS[path]["tools"] + more}
    long = json.dumps({"path": "a", "more": "a" * 9_000})
    async with gateway_over(calling("read", long), guards=CALLS) as rig:
        assert "a" * 9_000 in (await ask(rig.port, asking(path, fields, stream=stream))).body.decode()
        answer = await ask(rig.port, asking(path, {"messages": MESSAGES}, stream=stream))
        assert b"aaaa" not in answer.body
        assert b'"content_filter"' in answer.body


@pytest.mark.parametrize("stream", STREAMED)
@pytest.mark.parametrize(("policy", "engine", "rule"), [
    (GuardSettings(guard="tool_calls"), calling("write", GOOD), "unknown_tool"),
    (GuardSettings(guard="schema", json_schema='{"type": "object"}'), calling("read", GOOD), "not_json"),
    (GuardSettings(guard="length", answer_chars_max=3), calling("read", GOOD), "answer_too_long"),
])  # fmt: skip
async def test_what_is_flagged_passes_and_is_written_down(tmp_path, stream, policy, engine, rule) -> None:
    path = "/v1/chat/completions"
    async with gateway_over(engine, guards={"watch": policy}, records=tmp_path / "records") as rig:
        answer = await ask(rig.port, asking(path, OFFERS[path], stream=stream))
        assert b"let me look" in answer.body
        assert b"call_1" in answer.body
        (record,) = await rig.wait_records(1)
        assert [(one.policy, one.rule, one.action, one.direction) for one in record.guards] == [
            ("watch", rule, "flag", "output")
        ]
        assert f'rule="{rule}"'.encode() in (await ask(rig.port, get("/metrics"))).body


async def test_a_stream_that_goes_on_elsewhere_is_held_against_its_bound_as_a_whole() -> None:
    async def break_off(call: EngineCall) -> None:
        call.head(200, *EVENT_STREAM)
        call.event(chat_event("one two three "))
        call.event(chat_event("four five six"))
        await asyncio.sleep(0.05)
        call.reset()

    behaviours = iter((break_off, saying(" seven eight nine ten eleven")))

    async def either(call: EngineCall) -> None:
        await next(behaviours)(call)

    bound = {"bound": GuardSettings(guard="length", action="block", answer_chars_max=34)}
    async with gateway_over(either, either, guards=bound, pool={"engine": "vllm"}) as rig:
        answer = await ask(rig.port, asking("/v1/chat/completions", {"messages": MESSAGES}, stream=True))
        assert len(answer.text) == 34
        assert answer.text.startswith("one two three four five six")
        assert b'"content_filter"' in answer.body


async def test_a_call_whose_replica_breaks_off_is_begun_nowhere() -> None:
    async def break_off(call: EngineCall) -> None:
        call.head(200, *EVENT_STREAM)
        call.event(chat_event("let me look "))
        piece = {
            "index": 0,
            "id": "call_0",
            "type": "function",
            "function": {"name": "read", "arguments": '{"path": "/wo'},
        }
        choice = {"index": 0, "delta": {"tool_calls": [piece]}, "finish_reason": None}
        call.event({**chat_event(None), "choices": [choice]})
        await asyncio.sleep(0.05)
        call.reset()

    behaviours = iter((break_off, calling("read", GOOD, words="again ")))

    async def either(call: EngineCall) -> None:
        await next(behaviours)(call)

    async with gateway_over(either, either, guards=CALLS, pool={"engine": "vllm"}) as rig:
        answer = await ask(rig.port, asking("/v1/chat/completions", OFFERS["/v1/chat/completions"], stream=True))
        assert b"call_0" not in answer.body
        assert answer.status == 200
        assert answer.body.count(b"/work/notes") == 1 or b'"error"' in answer.body
