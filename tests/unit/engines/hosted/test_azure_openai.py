"""What Azure does another way than OpenAI."""

import json

import msgspec
import pytest

from heterodyne.domain.errors import EngineGarbage, EngineRefused, EngineUnavailable
from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines.azure_openai import AzureOpenAIDialect
from tests.support.requests_copied import changed

DIALECT = AzureOpenAIDialect()
REPLICA = Replica(
    id=ReplicaId("p-0"),
    pool=PoolName("p"),
    model="m",
    engine="azure-openai",
    host="h",
    port=1,
    base_path="/base",
    engine_model="my-deployment",
)
REQUEST = Request(id="1", operation=Operation.CHAT, model="m", body=b'{"model":"m","x":[1, 2]}')


@pytest.mark.parametrize(
    ("operation", "path"),
    [
        (Operation.CHAT, "/base/openai/v1/chat/completions"),
        (Operation.COMPLETION, "/base/openai/v1/completions"),
        (Operation.EMBEDDING, "/base/openai/v1/embeddings"),
    ],
)
def test_openai_s_bodies_go_to_azure_s_paths_with_the_deployment_as_the_model(operation: Operation, path: str) -> None:
    call = DIALECT.call(changed(REQUEST, operation=operation), REPLICA)
    assert call.path == path
    assert json.loads(call.body) == {"model": "my-deployment", "x": [1, 2]}
    same = msgspec.structs.replace(REPLICA, engine_model=None)
    assert DIALECT.call(REQUEST, same).body is REQUEST.body


def test_the_key_has_a_line_of_its_own() -> None:
    assert DIALECT.header_lines("k") == b"api-key: k\r\n"
    assert DIALECT.header_lines("") == b""


def test_what_the_filter_held_back_is_told_with_its_reasons() -> None:
    results = {"hate": {"filtered": False}, "violence": {"filtered": True, "severity": "high"}}
    inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": results}
    said = {"error": {"code": "content_filter", "message": "Held back.", "param": "prompt", "innererror": inner}}
    error = DIALECT.refusal(REQUEST, 400, json.dumps(said).encode())
    assert isinstance(error, EngineRefused)
    assert (error.status, error.engine_code, error.param) == (400, "content_filter", "prompt")
    assert error.message == "Held back. (violence)"


def test_a_deployment_that_is_not_there_is_the_operator_s_business() -> None:
    error = DIALECT.refusal(REQUEST, 404, b'{"error":{"code":"DeploymentNotFound","message":"none"}}')
    assert isinstance(error, EngineUnavailable)


def test_its_model_list_is_not_read() -> None:
    assert DIALECT.models_path is None
    with pytest.raises(EngineGarbage):
        DIALECT.read_models(b'{"data":[{"id":"gpt"}]}')
