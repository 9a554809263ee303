"""Bodies that no engine gets to see, and answers that say what to change."""

import pytest

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import EngineCall
from tests.support.gateways import gateway_over
from tests.support.raw_client import connected
from tests.support.requests import chat, chat_body, post

MESSAGES = [{"role": "user", "content": "hi"}]
INVALID = [
    (chat(messages=[{"role": "wizard", "content": "hi"}]), "messages[0].role"),
    (chat(messages=[{"role": "user", "content": "hi"}, {"role": "user", "content": 7}]), "messages[1].content"),
    (chat(messages="hi"), "messages"),
    (chat(messages=[]), "messages"),
    (chat(max_tokens="many"), "max_tokens"),
    (chat(max_tokens=0), "max_tokens"),
    (chat(max_tokens=10**12), "max_tokens"),
    (chat(max_completion_tokens=10**12), "max_tokens"),
    (chat(n=1000), "n"),
    (chat(temperature=-1), "temperature"),
    (chat(stream="yes"), "stream"),
    (chat(stream_options={"include_usage": True}), "stream_options"),
    (chat(model=7), "model"),
    (chat(model="m" * 257), "model"),
    (chat(user="u" * 513), "user"),
    (chat(stop=["s" * 1025]), "stop[0]"),
    (chat(logit_bias={str(token): 1 for token in range(16385)}), "logit_bias"),
    (chat(messages=[{"role": "user"}] * 16385), "messages"),
    (chat(tools=[{"type": "function"}] * 1025), "tools"),
    (post("/v1/completions", b'{"model":"scripted","prompt":[' + b'"a",' * 2048 + b'"a"]}'), "prompt"),
    (post("/v1/embeddings", b'{"model":"scripted","input":[' + b"[7]," * 2048 + b"[7]]}"), "input"),
    (post("/detokenize", b'{"model":"scripted","tokens":[' + b"7," * 4194304 + b"7]}"), "tokens"),
    (post("/v1/chat/completions", b'{"model":"scripted"}'), "messages"),
    (post("/v1/chat/completions", b'{"messages":[{"role":"user","content":"hi"}]}'), "model"),
    (post("/v1/chat/completions", b'{"model":"scripted","messages":[{"content":"hi"}]}'), "messages[0].role"),
    (post("/v1/completions", b'{"model":"scripted"}'), "prompt"),
    (post("/v1/completions", b'{"model":"scripted","prompt":[-1]}'), "prompt[0]"),
    (post("/v1/embeddings", b'{"model":"scripted","input":""}'), "input"),
    (post("/tokenize", b'{"model":"scripted"}'), "prompt"),
    (post("/detokenize", b'{"model":"scripted"}'), "tokens"),
]


async def test_a_wrong_field_is_named_by_its_path() -> None:
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        for request, param in INVALID:
            answer = await client.ask(request)
            assert (answer.status, answer.error["code"], answer.error["param"]) == (400, "invalid_value", param), (
                request
            )
            assert answer.error["type"] == "invalid_request_error"
        assert rig.engine.calls == []


@pytest.mark.parametrize(
    "body", [b"", b"{", b"hello", b'{"model": "scripted",}', b"\xff\xfe", b'{"a":' + b"[" * 100_000, b'"\\ud800"']
)
async def test_a_body_that_is_not_json_is_refused(body: bytes) -> None:
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        answer = await client.ask(post("/v1/chat/completions", body))
        assert (answer.status, answer.error["code"]) == (400, "invalid_json")
        assert (await client.ask(chat())).status == 200, "the connection is still good"


@pytest.mark.parametrize("body", [b"[]", b"null", b'"model"', b"7"])
async def test_json_that_is_no_object_is_refused(body: bytes) -> None:
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        assert (await client.ask(post("/v1/chat/completions", body))).error["code"] == "invalid_value"


async def test_an_unknown_model_is_answered_with_the_known_ones() -> None:
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        answer = await client.ask(chat(model="scriptd"))
        assert (answer.status, answer.error["code"], answer.error["param"]) == (404, "model_not_found", "model")
        assert "'scriptd' does not exist. Did you mean 'scripted'? Known models: scripted." in answer.error["message"]


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", ""])
async def test_a_body_not_declared_as_json_is_refused(content_type: str) -> None:
    body = chat_body()
    lines = ("host: localhost", f"content-type: {content_type}", f"content-length: {len(body)}")
    head = "\r\n".join(("POST /v1/chat/completions HTTP/1.1", *lines, "", ""))
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        answer = await client.ask(head.encode() + body)
        assert (answer.status, answer.error["code"]) == (415, "unsupported_media_type")


async def test_a_compressed_body_is_refused() -> None:
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        assert (await client.ask(chat("content-encoding: gzip"))).status == 415


async def test_more_tokens_than_the_context_are_refused_at_the_door() -> None:
    async with gateway_over(behaviours.answer(), pool={"context_tokens": 100}) as rig, connected(rig.port) as client:
        answer = await client.ask(chat(max_tokens=101))
        assert (answer.status, answer.error["param"]) == (400, "max_tokens")
        assert "101" in answer.error["message"]
        assert "100" in answer.error["message"]
        prompt = post("/v1/completions", b'{"model":"scripted","prompt":[%b]}' % b",".join([b"1"] * 101))
        answer = await client.ask(prompt)
        assert (answer.status, answer.error["code"]) == (400, "context_length_exceeded")
        assert answer.error["param"] == "prompt"


async def test_a_prompt_that_only_the_engine_can_count_is_refused_with_both_numbers() -> None:
    async def refuse(call: EngineCall) -> None:
        error = {"code": 400, "message": "too long", "type": "exceed_context_size_error"}
        call.whole(400, {"error": {**error, "n_prompt_tokens": 5000, "n_ctx": 4096}})

    async with gateway_over(refuse, pool={"engine": "llamacpp"}) as rig, connected(rig.port) as client:
        for request in (chat(), chat(stream=True)):
            answer = await client.ask(request)
            assert (answer.status, answer.error["code"]) == (400, "context_length_exceeded")
            assert answer.error["param"] == "messages"
            assert "5000 tokens" in answer.error["message"]
            assert "4096 tokens" in answer.error["message"]


async def test_a_long_value_is_not_repeated_whole_in_its_refusal() -> None:
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        refused = await client.ask(chat(messages=[{"role": "a" * 100_000, "content": "hi"}]))
        assert (refused.status, refused.error["param"]) == (400, "messages[0].role")
        assert len(refused.body) < 1000
