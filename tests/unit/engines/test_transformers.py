"""What `transformers serve` does its own way."""

import msgspec
import pytest

from heterodyne.domain.errors import EngineGarbage, InvalidField
from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines.transformers import TransformersDialect
from tests.support.requests_copied import changed

DIALECT = TransformersDialect()
REPLICA = Replica(
    id=ReplicaId("p-0"), pool=PoolName("p"), model="m", engine="transformers", host="h", port=1, engine_model="/w/m"
)
ABOUT = b'"created":1,"model":"/w/m@main","object":"chat.completion.chunk","system_fingerprint":""'
ROLE = b'{"id":"1","choices":[{"delta":{"role":"assistant"},"index":0}],' + ABOUT + b"}"
WORD = b'{"id":"1","choices":[{"delta":{"content":"x"},"index":0}],' + ABOUT + b"}"
USED = {"completion_tokens": 2, "prompt_tokens": 7, "total_tokens": 9}
LAST = (
    b'{"id":"1","choices":[{"delta":{},"finish_reason":"stop","index":0}],'
    + ABOUT
    + b',"usage":'
    + msgspec.json.encode(USED)
    + b"}"
)


def request(**fields: object) -> Request:
    body = msgspec.json.encode({"model": "m", "messages": [], **fields})
    return Request(id="1", operation=Operation.CHAT, model="m", body=body, stream=bool(fields.get("stream")))


def streamed(*events: bytes) -> list[bytes]:
    edit = DIALECT.stream_edit(request(stream=True))
    assert edit is not None
    return [one for event in events for one in edit(event)]


def test_a_stream_gets_its_count_in_an_event_of_its_own_and_an_end() -> None:
    role, word, reason, count, end = streamed(ROLE, WORD, LAST)
    assert msgspec.json.decode(role)["choices"][0]["delta"] == {"role": "assistant"}
    assert msgspec.json.decode(word)["choices"][0]["delta"] == {"content": "x"}
    told = msgspec.json.decode(reason)
    assert (told["choices"][0]["finish_reason"], "usage" in told) == ("stop", False)
    assert (msgspec.json.decode(count)["choices"], msgspec.json.decode(count)["usage"]) == ([], USED)
    assert end == b"[DONE]"


def test_an_end_that_it_tells_itself_one_day_is_told_once() -> None:
    assert streamed(ROLE, WORD, LAST, b"[DONE]").count(b"[DONE]") == 1
    assert streamed(WORD, b"[DONE]", b"[DONE]").count(b"[DONE]") == 1


def test_a_broken_stream_gets_no_end() -> None:
    assert streamed(ROLE, WORD) == [one.replace(b"/w/m@main", b"m") for one in (ROLE, WORD)]
    with pytest.raises(EngineGarbage):
        streamed(b'{"finish_reason":"stop"')


def test_clients_read_the_name_they_asked_for_and_no_folder() -> None:
    whole = DIALECT.answer(
        request(), REPLICA, b'{"choices":[{"message":{"content":"\\"model\\":\\"y"}}],"model":"/w/m@main"}'
    )
    assert isinstance(whole, bytes)
    assert msgspec.json.decode(whole) == {"choices": [{"message": {"content": '"model":"y'}}], "model": "m"}
    assert all(b"/w/m" not in one for one in streamed(ROLE, WORD, LAST))
    assert DIALECT.answer(request(), REPLICA, b'{"x":1}') == b'{"x":1}'


def test_it_is_told_the_limit_by_the_name_it_knows() -> None:
    told = DIALECT.call(request(max_completion_tokens=7), REPLICA)
    assert msgspec.json.decode(told.body)["max_tokens"] == 7


def test_log_probabilities_that_it_would_leave_out_are_refused() -> None:
    with pytest.raises(InvalidField) as refused:
        DIALECT.call(changed(request(logprobs=True), has_logprobs=True), REPLICA)
    assert refused.value.param == "logprobs"


def test_its_list_of_models_is_not_asked_for() -> None:
    assert DIALECT.models_path is None
    assert DIALECT.is_ready(200, b'{"status":"ok"}')
