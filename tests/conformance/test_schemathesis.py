"""Generated requests against our own description: whatever is asked, the answer is one the description promises."""

from collections.abc import Iterator

import hypothesis
import pytest
import schemathesis
from schemathesis import Case, Response
from schemathesis.checks import CheckContext
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from heterodyne.gateway.openapi import document
from heterodyne.testing.behaviours import answer_everything
from heterodyne.testing.scripted_engine import EngineCall
from tests.support.examples import examples
from tests.support.gateways import gateway_over
from tests.support.requests import MODEL
from tests.support.threads import in_thread

MADE_UP_CHARS = 5  # names at least this long stay as they were generated
ANSWER_S = 60.0  # no request of these is answered later, on whatever machine


def not_our_mistake(_: CheckContext, response: Response, __: Case) -> None:
    """To refuse what cannot be in time is an answer, and whether it can depends on the machine; a 500 never is."""
    assert response.status_code != 500, response.text


CHECKS = [
    not_our_mistake,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    unsupported_method,
]

api = schemathesis.openapi.from_dict(document())
tensors = schemathesis.openapi.from_dict(document()).include(path_regex="^/v2")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A gateway over an engine that answers everything, in a thread of its own."""
    stores = {"url": f"sqlite:{tmp_path_factory.mktemp('stores') / 'documents.db'}"}
    with in_thread(gateway_over(answer_everything(), stores=stores)) as rig:
        yield f"http://127.0.0.1:{rig.port}"


@pytest.fixture(scope="module")
def tensor_url() -> Iterator[str]:
    """The same for tensors."""

    async def infer(call: EngineCall) -> None:
        output = {"name": "y", "shape": [1], "datatype": "FP32", "data": [0.5]}
        call.whole(200, {"model_name": MODEL, "outputs": [output]})

    with in_thread(gateway_over(infer, pool={"engine": "open_inference"})) as rig:
        yield f"http://127.0.0.1:{rig.port}"


@api.hook
def map_body(context: schemathesis.HookContext, body: object) -> object:
    """Most requests name the model there is; a name made up by the generator would only ever be answered 404."""
    if isinstance(body, dict) and isinstance(body.get("model"), str) and len(body["model"]) < MADE_UP_CHARS:
        return {**body, "model": MODEL}
    return body


@api.hook
@tensors.hook
def map_path_parameters(context: schemathesis.HookContext, path_parameters: dict[str, str] | None) -> object:
    """The same for the paths with a name in them."""
    if path_parameters and len(path_parameters.get("model", "a made-up name")) < MADE_UP_CHARS:
        return {**path_parameters, "model": MODEL}
    return path_parameters


@api.parametrize()
@hypothesis.settings(max_examples=examples(15, least=5), derandomize=True, deadline=None, database=None)
def test_every_answer_is_one_the_description_promises(case: Case, url: str) -> None:
    case.call_and_validate(base_url=url, checks=CHECKS, timeout=ANSWER_S)


@tensors.parametrize()
@hypothesis.settings(max_examples=examples(15, least=5), derandomize=True, deadline=None, database=None)
def test_every_answer_about_tensors_is_one_the_description_promises(case: Case, tensor_url: str) -> None:
    case.call_and_validate(base_url=tensor_url, checks=CHECKS, timeout=ANSWER_S)
