"""The dialect that changes as little as it can."""

import msgspec
import pytest

from heterodyne.domain.errors import ContextExceeded, EngineRefused, EngineUnavailable
from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines.openai import OpenAIDialect
from tests.support.requests_copied import changed

DIALECT = OpenAIDialect()
REPLICA = Replica(
    id=ReplicaId("p-0"), pool=PoolName("p"), model="m", engine="openai", host="h", port=1, base_path="/base"
)
REQUEST = Request(id="1", operation=Operation.CHAT, model="m", body=b'{"model": "m"}')


@pytest.mark.parametrize(
    ("operation", "path"),
    [
        (Operation.CHAT, "/base/v1/chat/completions"),
        (Operation.COMPLETION, "/base/v1/completions"),
        (Operation.EMBEDDING, "/base/v1/embeddings"),
        (Operation.TOKENIZE, "/base/tokenize"),
        (Operation.DETOKENIZE, "/base/detokenize"),
    ],
)
def test_a_whole_request_passes_as_it_came(operation: Operation, path: str) -> None:
    call = DIALECT.call(changed(REQUEST, operation=operation), REPLICA)
    assert (call.path, call.body) == (path, REQUEST.body)
    assert call.body is REQUEST.body
    assert DIALECT.answer(REQUEST, REPLICA, b"{}") == b"{}"


def test_a_stream_is_asked_for_usage_unless_the_client_did() -> None:
    stream = changed(REQUEST, stream=True)
    assert DIALECT.call(stream, REPLICA).body == b'{"stream_options":{"include_usage":true},"model": "m"}'
    asked = changed(stream, wants_usage=True, has_stream_options=True)
    assert DIALECT.call(asked, REPLICA).body is REQUEST.body


def test_a_model_that_the_engine_knows_by_the_same_name_is_not_renamed() -> None:
    same = msgspec.structs.replace(REPLICA, engine_model="m")
    other = msgspec.structs.replace(REPLICA, engine_model='its "own"')
    assert DIALECT.call(REQUEST, same).body is REQUEST.body
    assert msgspec.json.decode(DIALECT.call(REQUEST, other).body) == {"model": 'its "own"'}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error":{"message":"why","code":400,"param":null}}', "why"),
        (b'{"error":"why"}', "why"),
        (b'{"message":"why"}', "why"),
        (b'{"detail":"why"}', "why"),
        (b'{"object":"error","message":"why","type":"BadRequestError"}', "why"),
        (b"<html>", "The engine refused with status 400."),
        (b"", "The engine refused with status 400."),
        (b'{"error":{"message":"' + b"x" * 5000 + b'"}}', "x" * 1000),
    ],
)
def test_a_refusal_is_read_in_every_common_shape(body: bytes, message: str) -> None:
    error = DIALECT.refusal(REQUEST, 400, body)
    assert isinstance(error, EngineRefused)
    assert (error.message, error.status) == (message, 400)


def test_a_refusal_keeps_the_engines_code_and_param() -> None:
    error = DIALECT.refusal(REQUEST, 400, b'{"error":{"message":"why","code":"bad_tool","param":"tools"}}')
    assert isinstance(error, EngineRefused)
    assert (error.engine_code, error.param) == ("bad_tool", "tools")


def test_a_context_that_is_exceeded_is_known_by_its_code() -> None:
    error = DIALECT.refusal(REQUEST, 400, b'{"error":{"message":"why","code":"context_length_exceeded"}}')
    assert isinstance(error, ContextExceeded)
    assert error.param == "messages"


def test_the_engines_own_troubles_are_not_told_in_its_words() -> None:
    failed = DIALECT.refusal(REQUEST, 500, b'{"error":{"message":"/srv/app/secret.py line 7"}}')
    assert (failed.status, failed.message) == (502, "The engine failed with status 500.")
    for status in (401, 403):
        assert isinstance(DIALECT.refusal(REQUEST, status, b'{"message":"key sk-1 is wrong"}'), EngineUnavailable)


def test_a_quota_that_is_used_up_is_the_operators_business_and_a_rate_limit_the_clients() -> None:
    spent = DIALECT.refusal(REQUEST, 429, b'{"error":{"message":"org-7 is out of credit","code":"insufficient_quota"}}')
    assert isinstance(spent, EngineUnavailable)
    assert "org-7" not in spent.message
    limited = DIALECT.refusal(REQUEST, 429, b'{"error":{"message":"slow down","code":"rate_limit_exceeded"}}')
    assert isinstance(limited, EngineRefused)
    assert (limited.status, limited.message) == (429, "slow down")


def test_a_finding_of_fastapi_is_told_with_its_place() -> None:
    body = b'{"detail":[{"type":"missing","loc":["body","messages",0,"role"],"msg":"Field required"}]}'
    error = DIALECT.refusal(REQUEST, 422, body)
    assert (error.status, error.message, error.param) == (422, "messages.0.role: Field required", "messages.0.role")


def test_a_context_that_is_exceeded_is_known_by_its_words_too() -> None:
    body = b'{"object":"error","message":"This model\'s maximum context length is 8 tokens.","code":400}'
    assert isinstance(DIALECT.refusal(REQUEST, 400, body), ContextExceeded)
    assert not isinstance(DIALECT.refusal(REQUEST, 500, body), ContextExceeded)
