"""Our answers on the Open Inference Protocol's paths, held against the schemas that KServe publishes."""

import os
import tarfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from heterodyne.testing.scripted_engine import EngineCall
from tests.support.gateways import gateway_over
from tests.support.raw_client import connected
from tests.support.requests import MODEL, get, post

DATA = Path(os.environ.get("HETERODYNE_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))
ARCHIVE = DATA / "conformance" / "kserve_open_inference_protocol.tar.gz"
MEMBER = "specification/protocol/open_inference_rest.yaml"
URI = "urn:open-inference"
BODY = msgspec.json.encode({"id": "42", "inputs": [{"name": "x", "shape": [1], "datatype": "INT32", "data": [1]}]})
OUTPUT = {"name": "y", "shape": [1], "datatype": "INT32", "data": [1]}


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    if not ARCHIVE.exists():
        pytest.skip(f"no {ARCHIVE}; HETERODYNE_SHARED_DATA names the folder above `conformance`")
    with tarfile.open(ARCHIVE) as archive:
        member = next(name for name in archive.getnames() if name.endswith(MEMBER))
        file = archive.extractfile(member)
        assert file is not None
        return dict(yaml.safe_load(file))


def check(described: dict[str, Any], schema: str, answer: Any) -> None:
    registry: Any = Registry().with_resource(URI, DRAFT202012.create_resource(described))
    validator = Draft202012Validator({"$ref": f"{URI}#/components/schemas/{schema}"}, registry=registry)
    problems = [f"{problem.json_path}: {problem.message}" for problem in validator.iter_errors(answer)]
    assert not problems, f"{schema}: {problems}\n{answer}"


async def echo(call: EngineCall) -> None:
    call.whole(200, {"model_name": MODEL, "model_version": "1", "id": call.json["id"], "outputs": [OUTPUT]})


async def test_every_answer_is_what_the_protocol_describes(described: dict[str, Any]) -> None:
    check(described, "inference_request", msgspec.json.decode(BODY))
    async with gateway_over(echo, pool={"engine": "open_inference"}) as rig, connected(rig.port) as client:
        for schema, status, request in (
            ("metadata_server_response", 200, get("/v2")),
            ("metadata_server_response", 200, get("/v2/")),
            ("metadata_model_response", 200, get(f"/v2/models/{MODEL}")),
            ("inference_response", 200, post(f"/v2/models/{MODEL}/infer", BODY)),
            ("inference_response", 200, post(f"/v2/models/{MODEL}/versions/1/infer", BODY)),
            ("inference_error_response", 400, post(f"/v2/models/{MODEL}/infer", b"{}")),
            ("inference_error_response", 404, post("/v2/models/gpt-9/infer", BODY)),
            ("metadata_model_error_response", 404, get("/v2/models/gpt-9")),
        ):
            answer = await client.ask(request)
            assert answer.status == status, answer
            check(described, schema, answer.json)
        for path in ("/v2/health/live", "/v2/health/ready", f"/v2/models/{MODEL}/ready"):
            assert (await client.ask(get(path))).status == 200
