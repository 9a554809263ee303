"""What the gateway does not need to change it does not touch."""

import msgspec
import pytest

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from tests.support.gateways import gateway_over
from tests.support.raw_client import connected
from tests.support.requests import post

POOL = {"allow_fields": ("zeta", "nested", "huge", "alpha", "last")}
ODD = (
    b' {\r\n "zeta" : 1.0e0 ,\t"model":"scripted", "nested": {"model": "other", "b":[ 1,2 , 3e-2 ]},'
    b'"messages":[{"role":"user","content":"\\u00e9\\ud83d\\ude00 \\"hi\\" \\/ \xc3\xa9","cache":{ }}] ,'
    b'"huge":123456789012345678901234567890, "alpha":null%b } \n'
)


def members(body: bytes) -> dict[str, bytes]:
    """The top-level members in their order, each value in the very bytes it is spelled with."""
    return {name: bytes(value) for name, value in msgspec.json.decode(body, type=dict[str, msgspec.Raw]).items()}


async def test_a_body_reaches_the_engine_byte_for_byte() -> None:
    body = ODD % b""
    async with gateway_over(behaviours.answer(), pool=POOL) as rig, connected(rig.port) as client:
        assert (await client.ask(post("/v1/chat/completions", body))).status == 200
        assert rig.engine.calls[0].body == body
        assert rig.engine.calls[0].path == "/v1/chat/completions"


async def test_a_stream_is_asked_for_its_usage_and_nothing_else_changes() -> None:
    body = ODD % b', "stream" : true'
    async with gateway_over(behaviours.stream(2), pool=POOL) as rig, connected(rig.port) as client:
        assert (await client.ask(post("/v1/chat/completions", body))).text == " hello hello"
        sent = rig.engine.calls[0].body
        assert sent == body.replace(b" {", b' {"stream_options":{"include_usage":true},', 1)


async def test_a_stream_whose_usage_the_client_asks_for_is_not_changed_at_all() -> None:
    body = ODD % b', "stream":true,"stream_options" : { "include_usage" : true }'
    async with gateway_over(behaviours.stream(2), pool=POOL) as rig, connected(rig.port) as client:
        answer = await client.ask(post("/v1/chat/completions", body))
        assert rig.engine.calls[0].body == body
        assert b'"usage":{"prompt_tokens":7,"completion_tokens":2' in answer.events[-2]


@pytest.mark.parametrize("options", [b"null", b"{}", b'{ "include_usage" : false }'])
async def test_only_the_stream_options_of_a_client_that_has_some_are_replaced(options: bytes) -> None:
    body = ODD % b', "stream":true,"stream_options" : %b , "last":0' % options
    async with gateway_over(behaviours.stream(2), pool=POOL) as rig, connected(rig.port) as client:
        answer = await client.ask(post("/v1/chat/completions", body))
        wanted = {**members(body), "stream_options": b'{"include_usage":true}'}
        assert list(members(rig.engine.calls[0].body).items()) == list(wanted.items())
        assert b"usage" not in answer.body


async def test_only_the_name_of_the_model_changes_for_an_engine_that_knows_it_by_another() -> None:
    body = ODD % b""
    engine = ScriptedEngine(behaviours.answer(), model="org/its name")
    async with gateway_over(engine, pool={**POOL, "engine_model": "org/its name"}) as rig:
        async with connected(rig.port) as client:
            assert (await client.ask(post("/v1/chat/completions", body))).status == 200
        wanted = {**members(body), "model": b'"org/its name"'}
        assert list(members(rig.engine.calls[0].body).items()) == list(wanted.items())


async def test_a_path_in_front_of_an_engine_is_kept() -> None:
    async with gateway_over(behaviours.answer()) as rig:
        pool = {**POOL, "urls": (f"{rig.engine.url}/deployments/a/",)}
        async with gateway_over(rig.engine, pool=pool) as other, connected(other.port) as client:
            assert (await client.ask(post("/v1/chat/completions", ODD % b""))).status == 200
            assert rig.engine.calls[0].path == "/deployments/a/v1/chat/completions"
