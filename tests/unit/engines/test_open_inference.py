"""The Open Inference Protocol's paths and refusals."""

import pytest

from heterodyne.domain.errors import EngineRefused, EngineUnavailable
from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines.open_inference import OpenInferenceDialect

DIALECT = OpenInferenceDialect()
BODY = b'{"inputs":[]}'


def replica(engine_model: str | None = None, base_path: str = "") -> Replica:
    return Replica(
        id=ReplicaId("p-0"),
        pool=PoolName("p"),
        model="m",
        engine="open_inference",
        host="h",
        port=1,
        engine_model=engine_model,
        base_path=base_path,
    )


def request(version: str | None = None, model: str = "m") -> Request:
    return Request(id="1", operation=Operation.INFER, model=model, model_version=version, body=BODY)


@pytest.mark.parametrize(
    ("asked", "target", "path"),
    [
        (request(), replica(), "/v2/models/m/infer"),
        (request("3"), replica(), "/v2/models/m/versions/3/infer"),
        (request(model="alias"), replica(), "/v2/models/m/infer"),
        (request(), replica("its own/name"), "/v2/models/its%20own%2Fname/infer"),
        (request("1/../../x\r\n"), replica(), "/v2/models/m/versions/1%2F..%2F..%2Fx%0D%0A/infer"),
        (request(), replica(base_path="/base"), "/base/v2/models/m/infer"),
    ],
)
def test_the_path_has_the_engines_name_for_the_model_and_the_body_is_untouched(
    asked: Request, target: Replica, path: str
) -> None:
    call = DIALECT.call(asked, target)
    assert call.path == path
    assert call.body is BODY


@pytest.mark.parametrize("status", [400, 404])
def test_a_version_that_is_not_there_is_the_callers_to_change(status: int) -> None:
    error = DIALECT.refusal(
        request("9"), status, b'{"error":"Request for unknown model: \'m\' version 9 is not found"}'
    )
    assert isinstance(error, EngineRefused)
    assert (error.status, "'9'" in error.message) == (404, True)


@pytest.mark.parametrize("status", [400, 404])
def test_a_model_that_is_not_there_is_the_operators_business(status: int) -> None:
    error = DIALECT.refusal(request(), status, b'{"error":"Request for unknown model: \'m\' is not found"}')
    assert isinstance(error, EngineUnavailable)


def test_a_refusal_of_tensors_keeps_the_engines_words() -> None:
    error = DIALECT.refusal(request("9"), 400, b'{"error":"unexpected shape for input \'x\'"}')
    assert isinstance(error, EngineRefused)
    assert (error.status, error.message) == (400, "unexpected shape for input 'x'")
