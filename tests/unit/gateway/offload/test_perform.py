"""What is done beside a worker is what the worker would have done itself."""

import msgspec
import pytest

from heterodyne.domain.errors import EngineBroke, EngineRefused, InvalidField, MethodNotAllowed, Overloaded
from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.request import Request
from heterodyne.engines.catalogue import DIALECTS
from heterodyne.gateway import routes
from heterodyne.gateway.offload.job import (
    AnswerRead,
    BodyRead,
    CallMade,
    JobFailed,
    MakeCall,
    ReadAnswer,
    ReadBody,
    decode_job,
    decode_result,
    encode,
    error_of,
    failure_of,
    fields_of,
    request_of,
)
from heterodyne.gateway.offload.perform import perform
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.routing.kv.chain import PROMPT_BYTES_MAX
from heterodyne.testing import behaviours
from tests.support.requests_copied import changed

SETTINGS = GatewaySettings()
REPLICA = Replica(
    id=ReplicaId("r"), pool=PoolName("p"), model="m", engine="vllm", host="h", port=1, engine_model="other"
)
BODIES = {
    "/v1/chat/completions": {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": [{"type": "text"}]}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 5,
        "n": 2,
        "user": "u",
        "logprobs": True,
    },
    "/v1/completions": {"model": "m", "prompt": [1, 2, 3], "max_tokens": 4},
    "/v1/embeddings": {"model": "m", "input": ["a", "b"], "dimensions": 3},
    "/tokenize": {"model": "m", "prompt": "hi"},
    "/detokenize": {"model": "m", "tokens": [1]},
    "/v2/models/m/versions/7/infer": {"inputs": [{"name": "x", "shape": [1], "datatype": "FP32", "data": [1.5]}]},
}


def read(path: str, body: bytes) -> Request:
    """As the worker reads it itself."""
    route = routes.find(path.encode())
    assert route is not None
    assert route.read is not None
    return route.read(body, "id", 9.0, SETTINGS)


def read_job(path: str) -> ReadBody:
    return ReadBody(path=path.encode(), request_id="id", deadline_s=9.0, settings=SETTINGS, wants_prompt=True)


@pytest.mark.parametrize("path", BODIES)
def test_a_body_read_beside_the_worker_is_the_same_request(path: str) -> None:
    body = msgspec.json.encode(BODIES[path])
    here = read(path, body)
    result, prompt = perform(decode_job(encode(read_job(path))), body, DIALECTS)
    told = decode_result(encode(result))
    assert isinstance(told, BodyRead)
    there = request_of(told.request, body)
    assert fields_of(there) == fields_of(here)
    assert [type(value) for value in fields_of(there).values()] == [type(value) for value in fields_of(here).values()]
    assert prompt == (here.prompt.whole() if here.prompt is not None else b"")
    assert told.opening == (here.prompt.opening() if here.prompt is not None else b"")


def test_of_a_long_prompt_only_what_is_compared_comes_back() -> None:
    text = "a" * (PROMPT_BYTES_MAX + 1000)
    body = msgspec.json.encode({"model": "m", "messages": [{"role": "user", "content": text}]})
    result, prompt = perform(read_job("/v1/chat/completions"), body, DIALECTS)
    assert isinstance(result, BodyRead)
    assert len(prompt) == PROMPT_BYTES_MAX
    assert result.prompt_bytes > PROMPT_BYTES_MAX + 1000
    assert len(result.opening) == 32


@pytest.mark.parametrize("engine", ["vllm", "sglang", "llamacpp", "openai"])
def test_a_call_made_beside_the_worker_is_the_same_call(engine: str) -> None:
    body = msgspec.json.encode({**BODIES["/v1/chat/completions"], "stream_options": None})
    request, replica = read("/v1/chat/completions", body), msgspec.structs.replace(REPLICA, engine=engine)
    job = decode_job(encode(MakeCall(request=fields_of(request), replica=replica)))
    result, made = perform(job, body, DIALECTS)
    assert (CallMade(path=DIALECTS[engine].call(request, replica).path, is_same=False)) == result
    assert made == DIALECTS[engine].call(request, replica).body


def test_a_body_that_needs_no_change_is_not_sent_back() -> None:
    body = msgspec.json.encode({**BODIES["/v1/chat/completions"], "model": "other"})
    job = MakeCall(request=fields_of(read("/v1/chat/completions", body)), replica=REPLICA)
    assert perform(job, body, DIALECTS) == (CallMade(path="/v1/chat/completions", is_same=True), b"")


def test_members_that_the_door_sets_are_in_the_call() -> None:
    body = b'{"model":"other","messages":[{"role":"user","content":"a"}],"max_tokens":null}'
    request = changed(read("/v1/chat/completions", body), changes={"max_tokens": b"7"})
    job = decode_job(encode(MakeCall(request=fields_of(request), replica=REPLICA)))
    _, made = perform(job, body, DIALECTS)
    assert msgspec.json.decode(made)["max_tokens"] == 7


def test_an_answer_that_broke_off_goes_on_behind_what_was_said() -> None:
    body = b'{"model":"other","messages":[{"role":"user","content":"a"}],"stream":true}'
    request = read("/v1/chat/completions", body)
    job = MakeCall(request=fields_of(request), replica=REPLICA, said_text="so far", said_tokens=2)
    _, made = perform(job, body, DIALECTS)
    assert msgspec.json.decode(made)["messages"][-1] == {"role": "assistant", "content": "so far"}
    result, _ = perform(msgspec.structs.replace(job, said_text="so far "), body, DIALECTS)
    assert isinstance(result, JobFailed)
    assert isinstance(error_of(result), EngineBroke)


def test_an_answer_taken_beside_the_worker_has_its_usage() -> None:
    answer = msgspec.json.encode(behaviours.chat_answer())
    request = read("/v1/chat/completions", b'{"model":"m","messages":[{"role":"user","content":"a"}]}')
    result, made = perform(ReadAnswer(request=fields_of(request), replica=REPLICA), answer, DIALECTS)
    told = decode_result(encode(result))
    assert isinstance(told, AnswerRead)
    assert told.is_same
    assert not made
    assert told.usage is not None
    assert told.usage["completion_tokens"] == 3


def test_what_cannot_be_read_is_the_same_error() -> None:
    result, _ = perform(read_job("/v1/chat/completions"), b'{"model":"m","messages":[{"role":1}]}', DIALECTS)
    assert isinstance(result, JobFailed)
    error = error_of(result)
    with pytest.raises(InvalidField) as here:
        read("/v1/chat/completions", b'{"model":"m","messages":[{"role":1}]}')
    assert type(error) is InvalidField
    assert (error.message, error.param, str(error)) == (here.value.message, here.value.param, str(here.value))


@pytest.mark.parametrize(
    "error",
    [
        EngineRefused("no", status=422, code="c", param="p"),
        Overloaded("later", retry_after_s=3),
        MethodNotAllowed("no", allow="GET"),
    ],
)
def test_an_error_survives_its_way(error: Exception) -> None:
    told = decode_result(encode(failure_of(error)))  # type: ignore[arg-type]  # each is one of ours
    assert isinstance(told, JobFailed)
    again = error_of(told)
    assert type(again) is type(error)
    assert vars(again) == vars(error)
    assert again.status == error.status  # type: ignore[attr-defined]
