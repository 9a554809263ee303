"""Paths, methods and keys."""

from hashlib import sha256

import pytest

from heterodyne.testing import behaviours
from tests.support.gateways import gateway_over
from tests.support.raw_client import connected
from tests.support.requests import chat, get, post

KEY = "sk-right"
KEYS = {"api_keys_sha256": (sha256(KEY.encode()).hexdigest(),)}


@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v1/chat/completions/", "/v1/../metrics", "/V1/models", "/%76%31/models"]
)
async def test_an_unknown_path_is_not_found(path: str) -> None:
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        for request in (get(path), post(path, b"{}")):
            answer = await client.ask(request)
            assert (answer.status, answer.error["code"]) == (404, "unknown_path")


async def test_a_query_is_no_part_of_the_path() -> None:
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        assert (await client.ask(get("/v1/models?limit=2"))).status == 200


@pytest.mark.parametrize(
    ("request_bytes", "allow"),
    [
        (get("/v1/completions"), "POST"),
        (get("/v1/chat/completions", method="OPTIONS"), "POST, GET"),
        (get("/v1/models", method="DELETE"), "GET"),
        (post("/v1/models", b"{}"), "GET"),
        (get("/v1/models", method="BREW"), "GET, POST"),
        (get("/v1/models", method="get"), "GET, POST"),
        (b"\x16\x03\x01\x02\x00", "GET, POST"),
    ],
)
async def test_a_method_that_a_path_does_not_take_is_answered_with_those_it_does(
    request_bytes: bytes, allow: str
) -> None:
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        answer = await client.ask(request_bytes)
        assert (answer.status, answer.error["code"], answer.headers["allow"]) == (405, "method_not_allowed", allow)


async def test_head_is_answered_like_get_without_the_body() -> None:
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        await client.send(get("/health/live", method="HEAD") + get("/nowhere", method="HEAD") + get("/health/live"))
        assert [(await client.head())[0] for _ in range(2)] == [200, 404]
        answer = await client.answer()
        assert answer.json == {"status": "ok"}, "the answers stay in step"


async def test_without_a_key_only_what_is_open_is_answered() -> None:
    async with gateway_over(behaviours.answer(), admission=KEYS) as rig, connected(rig.port) as client:
        for path in ("/health/live", "/health/ready", "/metrics"):
            assert (await client.ask(get(path))).status == 200
        wrong = ["", "authorization: Bearer", "authorization: Bearer sk-wrong", f"authorization: Basic {KEY}"]
        for header in wrong:
            for request in (chat(*([header] if header else [])), get("/v1/models", *([header] if header else []))):
                answer = await client.ask(request)
                assert (answer.status, answer.error["code"]) == (401, "invalid_api_key")
                assert answer.error["type"] == "authentication_error"
                assert answer.headers["www-authenticate"] == "Bearer"
        assert rig.engine.calls == []


async def test_the_right_key_opens_and_goes_no_further_than_the_gateway() -> None:
    async with gateway_over(behaviours.answer(), admission=KEYS) as rig, connected(rig.port) as client:
        for header in (f"authorization: Bearer {KEY}", f"Authorization: bearer  {KEY}"):
            assert (await client.ask(chat(header, "cookie: secret"))).status == 200
        for call in rig.engine.calls:
            assert "authorization" not in call.headers
            assert "cookie" not in call.headers


async def test_every_answer_can_be_traced_by_an_id_of_its_own() -> None:
    async with gateway_over(behaviours.stream(1)) as rig, connected(rig.port) as client:
        requests = (chat(), chat(stream=True), chat(model="x"), get("/v1/models"), get("/nowhere"))
        answers = [await client.ask(request) for request in requests]
        ids = [answer.headers["x-request-id"] for answer in answers]
        assert len(set(ids)) == len(ids)
        assert [answer.headers["x-heterodyne-request-id"] for answer in answers] == ids
        assert [call.headers["x-request-id"] for call in rig.engine.calls] == ids[:2]
        assert answers[0].headers["x-heterodyne-pool"] == "pool"
        assert answers[0].headers["x-heterodyne-replica"] == "pool-0"


async def test_a_keyless_gateway_asked_by_a_strange_name_does_not_answer() -> None:
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        answer = await client.ask(b"GET /v1/models HTTP/1.1\r\nhost: evil.example\r\n\r\n")
        assert (answer.status, answer.error["code"]) == (421, "unknown_host")
