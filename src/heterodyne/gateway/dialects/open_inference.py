"""POST /v2/models/{model}/infer and the same with a version: the Open Inference Protocol's tensors, as JSON."""

from functools import partial
from typing import Annotated

import msgspec
from msgspec import Meta, Raw, Struct

from heterodyne.domain.errors import CallerError, InvalidField
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.dialects.body import DIMENSIONS_MAX, TENSORS_MAX, Reader, decode
from heterodyne.gateway.dialects.body import Name as ClientName
from heterodyne.gateway.dialects.members import flattened, listed, private, read_members
from heterodyne.gateway.settings import GatewaySettings

Name = Annotated[str, Meta(min_length=1, max_length=512)]
Parameters = dict[str, Raw]

API = frozenset({"inputs", "outputs", "id", "parameters"})
LIST_START = ord("[")
BINARY = "Tensors as bytes behind the JSON are not supported; send them as JSON in `data` (binary_data=False)."
BINARY_SIZE = "binary_data_size"
SHARED_MEMORY = "shared_memory_region"
SEQUENCE = "sequence_id"


class InputTensor(Struct):
    """One tensor for the model; its numbers go to the engine unread."""

    name: Name
    shape: Annotated[list[Annotated[int, Meta(ge=0)]], Meta(max_length=DIMENSIONS_MAX)]
    datatype: Name
    data: Annotated[Raw, Meta(extra_json_schema={"type": "array"})]
    parameters: Parameters = {}


class AskedOutput(Struct):
    """One tensor that is wanted back."""

    name: Name
    parameters: Parameters = {}


class InferFields(Struct):
    """The typed fields of an inference."""

    inputs: Annotated[list[InputTensor], Meta(min_length=1, max_length=TENSORS_MAX)]
    outputs: Annotated[list[AskedOutput], Meta(max_length=TENSORS_MAX)] = []
    id: ClientName = ""
    parameters: Parameters = {}


_decoder = msgspec.json.Decoder(InferFields)


def reader(model: str, version: str | None) -> Reader:
    """Reads the bodies of one model, which the path names and they do not."""
    return partial(_read, model=model, version=version)


def _read(
    body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings, *, model: str, version: str | None
) -> Request:
    fields = _decode(body)
    _check(fields)
    own = {**private(read_members(body)[0], API), **_parameters(fields)}
    return Request(
        id=request_id,
        operation=Operation.INFER,
        model=model,
        model_version=version,
        body=body,
        private_fields=listed(own) if own else (),
        prompt_chars=len(body),  # a larger batch takes longer: what is expected of a replica goes by this
        deadline_s=deadline_s,
    )


def _decode(body: bytes) -> InferFields:
    try:
        return decode(_decoder, body)
    except CallerError as error:
        if body.find(b'"%b"' % BINARY_SIZE.encode()) >= 0:
            raise InvalidField(BINARY, param="inputs") from error
        raise


def _parameters(fields: InferFields) -> dict[str, Raw]:
    """What the protocol leaves to servers to name, by path; those of all tensors together."""
    own = flattened("parameters", fields.parameters)
    for tensor in fields.inputs:
        own |= flattened("inputs.parameters", tensor.parameters)
    for output in fields.outputs:
        own |= flattened("outputs.parameters", output.parameters)
    return own


def _check(fields: InferFields) -> None:
    """Refuse what could not be answered in JSON, by any replica, or from memory that is the engine's own."""
    if SEQUENCE in fields.parameters:
        raise InvalidField(
            "parameters.sequence_id: the requests of a sequence would reach different replicas; send it whole.",
            param="parameters.sequence_id",
        )
    if _is_true(fields.parameters.get("binary_data_output")):
        raise InvalidField(BINARY, param="parameters.binary_data_output")
    for place, tensor in enumerate(fields.inputs):
        if memoryview(tensor.data)[0] != LIST_START:
            raise InvalidField(f"inputs[{place}].data: a list is expected.", param=f"inputs[{place}].data")
        if tensor.parameters:
            _check_tensor(tensor.parameters, f"inputs[{place}]")
    for place, output in enumerate(fields.outputs):
        if output.parameters:
            _check_tensor(output.parameters, f"outputs[{place}]")


def _check_tensor(parameters: Parameters, where: str) -> None:
    if BINARY_SIZE in parameters or _is_true(parameters.get("binary_data")):
        raise InvalidField(f"{where}: {BINARY}", param=where)
    if SHARED_MEMORY in parameters:
        raise InvalidField(f"{where}: shared memory of an engine is not for clients; send `data`.", param=where)


def _is_true(value: Raw | None) -> bool:
    return value is not None and bytes(value) == b"true"
