"""Tensors as JSON: what is taken and what is refused, with the words that say why."""

import msgspec
import pytest

from heterodyne.domain.errors import CallerError, InvalidField, MalformedJson
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.dialects.open_inference import reader
from heterodyne.gateway.settings import GatewaySettings

INPUT = {"name": "x", "shape": [2, 2], "datatype": "FP32", "data": [[1, 2], [3, 4.5]]}


def read(body: object, version: str | None = None) -> Request:
    raw = body if isinstance(body, bytes) else msgspec.json.encode(body)
    return reader("m", version)(raw, "req_1", 7.0, GatewaySettings())


def body(**tensor: object) -> dict[str, object]:
    return {"inputs": [{**INPUT, **tensor}]}


def test_a_request_is_the_bytes_that_came_for_the_model_of_the_path() -> None:
    raw = msgspec.json.encode({"id": "42", "model": "other", "x_unknown": None, **body(parameters={"k": 1})})
    request = read(raw, "3")
    assert request.body is raw
    assert (request.operation, request.model, request.model_version) == (Operation.INFER, "m", "3")
    assert (request.stream, request.prompt_tokens, request.deadline_s) == (False, None, 7.0)


@pytest.mark.parametrize(
    "tensor",
    [
        {"data": []},
        {"shape": [], "data": [1]},
        {"datatype": "BYTES", "data": ["é", "b"]},
        {"datatype": "BOOL", "data": [True]},
        {"parameters": {"binary_data": False}},
    ],
)
def test_any_list_is_data(tensor: dict[str, object]) -> None:
    assert read(body(**tensor)).model == "m"


def test_outputs_may_be_asked_for_as_json() -> None:
    outputs = [{"name": "y", "parameters": {"binary_data": False, "classification": 2}}, {"name": "z"}]
    assert read({**body(), "outputs": outputs}).model == "m"


@pytest.mark.parametrize(
    ("bad", "param"),
    [
        ({}, "inputs"),
        ({"inputs": []}, "inputs"),
        ({"inputs": 7}, "inputs"),
        ({"inputs": [7]}, "inputs[0]"),
        ({"inputs": [{}]}, "inputs[0].name"),
        (body(name=""), "inputs[0].name"),
        (body(shape="2"), "inputs[0].shape"),
        (body(shape=[-1]), "inputs[0].shape[0]"),
        (body(datatype=None), "inputs[0].datatype"),
        (body(data=7), "inputs[0].data"),
        (body(data=None), "inputs[0].data"),
        (body(parameters=[]), "inputs[0].parameters"),
        ({**body(), "outputs": [{}]}, "outputs[0].name"),
        ({**body(), "id": 42}, "id"),
    ],
)
def test_a_field_of_the_wrong_form_is_named(bad: object, param: str) -> None:
    with pytest.raises(InvalidField) as caught:
        read(bad)
    assert caught.value.param == param


@pytest.mark.parametrize("bad", [b"", b"{", b"\xff", b'{"inputs":' + b"[" * 5000])
def test_what_is_no_json_is_refused(bad: bytes) -> None:
    with pytest.raises(CallerError):
        read(bad)
    with pytest.raises(MalformedJson):
        read(b"xx")


BINARY_INPUT = {"name": "x", "shape": [1], "datatype": "FP32", "parameters": {"binary_data_size": 4}}


@pytest.mark.parametrize(
    "binary",
    [
        msgspec.json.encode({"inputs": [BINARY_INPUT]}) + b"\x00\x00\x80?",
        {"inputs": [BINARY_INPUT]},
        {"inputs": [{**BINARY_INPUT, "data": []}]},
        {**body(), "outputs": [{"name": "y", "parameters": {"binary_data": True}}]},
        {**body(), "parameters": {"binary_data_output": True}},
    ],
)
def test_tensors_as_bytes_are_refused_with_the_way_out(binary: object) -> None:
    with pytest.raises(InvalidField, match="binary_data=False"):
        read(binary)


@pytest.mark.parametrize("side", ["inputs", "outputs"])
def test_an_engines_shared_memory_is_not_for_clients(side: str) -> None:
    tensor = {**INPUT, "parameters": {"shared_memory_region": "r", "shared_memory_byte_size": 4}}
    with pytest.raises(InvalidField, match="shared memory"):
        read({**body(), side: [tensor]})


def test_a_sequence_is_refused_since_its_requests_would_reach_different_replicas() -> None:
    with pytest.raises(InvalidField) as caught:
        read({**body(), "parameters": {"sequence_id": 7, "sequence_start": True}})
    assert caught.value.param == "parameters.sequence_id"
