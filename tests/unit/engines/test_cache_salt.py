"""One project's prompts are kept apart from another's in an engine's cache, in the words of engines that can."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines.cache_salt import cache_salt
from heterodyne.engines.catalogue import DIALECTS

SALT = cache_salt(b"of a project")
BODY = b'{"model": "m", "messages": []}'
HEEDING = {
    "vllm": {Operation.CHAT, Operation.COMPLETION},
    "sglang": {Operation.CHAT, Operation.COMPLETION},
    "tensorrt-llm": {Operation.CHAT},
}


def asked(engine: str, body: bytes = BODY, **fields: object) -> bytes:
    replica = Replica(id=ReplicaId("p-0"), pool=PoolName("p"), model="m", engine="openai", host="h", port=1)
    request = Request(id="1", operation=Operation.CHAT, model="m", body=body)
    request.cache_salt = SALT
    for name, value in fields.items():
        setattr(request, name, value)
    return DIALECTS[engine].call(request, replica).body


@pytest.mark.parametrize("engine", ["vllm", "sglang", "tensorrt-llm", "openai", "llamacpp", "lmdeploy", "tgi"])
@pytest.mark.parametrize("operation", [Operation.CHAT, Operation.COMPLETION])
def test_engines_that_heed_a_salt_are_told_it_and_no_others(engine: str, operation: Operation) -> None:
    said = msgspec.json.decode(asked(engine, operation=operation)).get("cache_salt")
    assert said == (SALT if operation in HEEDING.get(engine, ()) else None)


def test_a_request_of_nobody_passes_as_it_came() -> None:
    assert asked("vllm", cache_salt="") is BODY


@pytest.mark.parametrize("has_options", [False, True])
def test_a_stream_is_asked_for_its_usage_as_well(has_options: bool) -> None:
    body = b'{"model":"m","stream_options":{}}' if has_options else b'{"model":"m"}'
    said = msgspec.json.decode(asked("vllm", body, stream=True, has_stream_options=has_options))
    assert said == {"model": "m", "stream_options": {"include_usage": True}, "cache_salt": SALT}


def test_a_salt_that_a_client_may_send_is_added_to_its_projects() -> None:
    bodies = [b'{"cache_salt":"%s","model":"m"}' % own for own in (b"one", b"two", SALT.encode())]
    salts = []
    for body in bodies:
        sent = asked("vllm", body, private_fields=("cache_salt",))
        assert sent.count(b"cache_salt") == 1
        salts.append(msgspec.json.decode(sent)["cache_salt"])
    assert len({*salts, SALT, "one", "two"}) == 6


@given(st.binary(), st.binary())
def test_no_two_tenants_have_one_salt_and_none_shows_the_tenant(one: bytes, other: bytes) -> None:
    assert (cache_salt(one) == cache_salt(other)) is (one == other)
    assert len(cache_salt(one)) == 32
    assert len(one) < 8 or one.hex() not in cache_salt(one)
