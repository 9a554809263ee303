"""The Open Inference Protocol through the whole gateway, over scripted servers of it."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import Behaviour, EngineCall
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import Answer, connected
from tests.support.requests import CHAT, chat, get, post

MODEL = "scripted"
POOL = {"engine": "open_inference", "allow_fields": ("x_unknown",)}
INFER = f"/v2/models/{MODEL}/infer"
BODY = b'{ "inputs" : [{"name":"x","shape":[2],"datatype":"FP32","data":[1,2]}], "x_unknown" : 1.0e0 }'
OUTPUT = {"name": "y", "shape": [1], "datatype": "FP32", "data": [3.0]}
TRIES_MAX = 100
ANSWER = msgspec.json.encode({"model_name": MODEL, "outputs": [OUTPUT], "usage": {"prompt_tokens": 9}})


async def infer(call: EngineCall) -> None:
    """A server with one model that has one version."""
    if call.path.endswith("/versions/9/infer"):
        call.whole(404, {"error": f"Model {MODEL} with version 9 not found"})
    else:
        call.whole(200, ANSWER)


def refuse(status: int, words: str) -> Behaviour:
    async def behave(call: EngineCall) -> None:
        call.whole(status, {"error": words})

    return behave


@asynccontextmanager
async def tensors_over(*servers: Behaviour, **settings: Any) -> AsyncIterator[Rig]:
    async with gateway_over(*servers, **{"pool": POOL, **settings}) as rig:
        async with asyncio.timeout(30):
            while rig.holds().replicas_takeable < len(servers):
                await asyncio.sleep(0.005)
        yield rig


def undeclared(*headers: str) -> bytes:
    """As NVIDIA's own client sends them unless told otherwise: no word of what the body is."""
    return post(INFER, BODY, *headers).replace(b"content-type: application/json\r\n", b"")


def words(answer: Answer) -> str:
    """The error, after checking that it has the protocol's shape and can be traced."""
    assert set(answer.json) == {"error"}
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-request-id"].startswith("req_")
    return msgspec.convert(answer.json["error"], str)


async def test_tensors_pass_as_the_bytes_that_came_both_ways(tmp_path: Path) -> None:
    async with tensors_over(infer, records=tmp_path / "records") as rig, connected(rig.port) as client:
        for path in (INFER, f"/v2/models/{MODEL}/versions/1/infer"):
            answer = await client.ask(post(path, BODY, "authorization: Bearer mine"))
            assert (answer.status, answer.body) == (200, ANSWER)
            assert answer.headers["x-heterodyne-pool"] == "pool"
            call = rig.engine.calls[-1]
            assert (call.path, call.body) == (path, BODY)
            assert "authorization" not in call.headers
        await rig.wait_empty()
        for record in await rig.wait_records(2):
            assert (record.operation, record.model, record.status) == ("infer", MODEL, 200)
            assert (record.prompt_tokens, record.completion_tokens, record.is_estimated) == (0, 0, False)
            assert record.ttft_ms is None
            assert record.total_ms > 0
        metrics = (await client.ask(get("/metrics"))).body
        counted = rb'heterodyne_gateway_requests_total\{(?=.*operation="infer")(?=.*pool="pool").*status="200"'
        assert re.search(counted, metrics)


async def test_the_engines_own_name_for_a_model_and_an_alias_are_not_seen_by_each_other() -> None:
    pool = {**POOL, "engine_model": "org/resnet"}
    async with tensors_over(infer, pool=pool) as rig, connected(rig.port) as client:
        assert (await client.ask(post(INFER, BODY))).status == 200
        assert rig.engine.calls[-1].path == "/v2/models/org%2Fresnet/infer"


@pytest.mark.parametrize(
    "broken",
    [
        refuse(500, "CUDA out of memory"),
        refuse(503, "Exceeds maximum queue size"),
        refuse(404, f"Request for unknown model: '{MODEL}' is not found"),
        behaviours.raw(b"", then="close"),
        behaviours.raw(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n", then="reset"),
        behaviours.raw(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n\x00\x01", then="hang"),
    ],
    ids=["500", "503", "404", "closed", "cut", "bytes"],
)
async def test_a_replica_that_fails_is_not_noticed_while_another_can(broken: Behaviour, tmp_path: Path) -> None:
    async with (
        tensors_over(broken, infer, records=tmp_path / "records") as rig,
        connected(rig.port) as client,
    ):
        asked = 0
        while not rig.engines[0].calls:
            assert asked < TRIES_MAX, "where two are alike, either is asked"
            assert (await client.ask(post(INFER, BODY))).body == ANSWER
            asked += 1
        records = await rig.wait_records(asked)
        assert sum(record.retries for record in records) == len(rig.engines[0].calls)
        assert {record.replica for record in records} == {"pool-1"}


async def test_when_nobody_can_the_last_trouble_is_told_and_not_the_engines_words() -> None:
    async with tensors_over(refuse(500, "secret"), refuse(500, "secret")) as rig, connected(rig.port) as client:
        answer = await client.ask(post(INFER, BODY))
        assert answer.status == 502
        assert "secret" not in words(answer)
        await rig.wait_empty()


async def test_a_refusal_keeps_the_engines_words_and_is_not_retried() -> None:
    mismatch = refuse(400, "unexpected shape for input 'x'")
    async with tensors_over(mismatch, mismatch) as rig, connected(rig.port) as client:
        answer = await client.ask(post(INFER, BODY))
        assert (answer.status, words(answer)) == (400, "unexpected shape for input 'x'")
        assert sum(len(engine.calls) for engine in rig.engines) == 1


async def test_a_version_that_is_not_there_is_not_found() -> None:
    async with tensors_over(infer) as rig, connected(rig.port) as client:
        answer = await client.ask(post(f"/v2/models/{MODEL}/versions/9/infer", BODY))
        assert answer.status == 404
        assert "'9'" in words(answer)


@pytest.mark.parametrize(
    ("request_bytes", "status", "said"),
    [
        (post(INFER, b"{}"), 400, "inputs"),
        (post(INFER, b"xx"), 400, "JSON"),
        (post("/v2/models/gpt-9/infer", BODY), 404, "gpt-9"),
        (post("/v2/nothing", BODY), 404, "/v2/nothing"),
        (get(INFER), 405, "POST"),
        (post(INFER, BODY, "x-heterodyne-deadline-ms: x"), 400, "deadline"),
        (undeclared("inference-header-content-length: 2"), 415, "binary_data=False"),
        (undeclared(), 415, "application/json"),
    ],
)
async def test_a_refusal_of_ours_has_the_protocols_shape(request_bytes: bytes, status: int, said: str) -> None:
    async with tensors_over(infer) as rig, connected(rig.port) as client:
        answer = await client.ask(request_bytes)
        assert answer.status == status
        assert said in words(answer)
        assert rig.engine.calls == []


async def test_a_deadline_ends_the_wait() -> None:
    async with tensors_over(behaviours.raw(b"", then="hang")) as rig, connected(rig.port) as client:
        answer = await client.ask(post(INFER, BODY, "x-heterodyne-deadline-ms: 50"))
        assert answer.status == 504
        assert "deadline" in words(answer)
        await rig.wait_cancelled()


async def test_a_client_that_leaves_frees_the_server() -> None:
    async with tensors_over(behaviours.raw(b"", then="hang")) as rig:
        async with connected(rig.port) as client:
            await client.send(post(INFER, BODY))
            while not rig.engine.calls:
                await asyncio.sleep(0.005)
            client.leave()
        await rig.wait_empty()
        await rig.wait_cancelled()


async def test_text_is_not_asked_of_tensors_nor_tensors_of_text() -> None:
    async with tensors_over(infer) as rig, connected(rig.port) as client:
        embed = post("/v1/embeddings", msgspec.json.encode({"model": MODEL, "input": "x"}))
        for request in (chat(), embed):
            answer = await client.ask(request)
            assert (answer.status, answer.error["param"]) == (400, "model")
            assert "/v2/models" in answer.error["message"]
        tokenize = post("/tokenize", msgspec.json.encode({"model": MODEL, "prompt": "x"}))
        assert (await client.ask(tokenize)).error["code"] == "engine_refused"
        assert rig.engine.calls == []
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        answer = await client.ask(post(INFER, BODY))
        assert (answer.status, "does not take tensors" in words(answer)) == (400, True)
        assert (await client.ask(post("/v1/chat/completions", msgspec.json.encode(CHAT)))).status == 200


async def test_metadata_and_readiness_are_what_the_fleet_knows() -> None:
    async with tensors_over(infer, pool={**POOL, "version": "7"}) as rig, connected(rig.port) as client:
        server = (await client.ask(get("/v2"))).json
        assert (server["name"], server["extensions"]) == ("heterodyne", [])
        assert (await client.ask(get("/v2/"))).json == server
        assert (await client.ask(get("/v2/health/live"))).json == {"live": True}
        assert (await client.ask(get("/v2/health/ready"))).json == {"ready": True}
        assert (await client.ask(get(f"/v2/models/{MODEL}"))).json == {
            "name": MODEL,
            "versions": ["7"],
            "platform": "open_inference",
            "properties": {"purpose": "infer"},
        }
        assert (await client.ask(get(f"/v2/models/{MODEL}/ready"))).json == {"name": MODEL, "ready": True}
        [entry] = (await client.ask(get("/v1/models"))).json["data"]
        assert entry["purpose"] == "infer"
        for path in ("/v2/models/gpt-9", "/v2/models/gpt-9/ready"):
            answer = await client.ask(get(path))
            assert (answer.status, "gpt-9" in words(answer)) == (404, True)


async def test_a_server_that_is_not_ready_makes_its_model_not_ready() -> None:
    async with tensors_over(infer) as rig, connected(rig.port) as client:
        rig.engine.is_healthy = False
        async with asyncio.timeout(30):
            while (await client.ask(get(f"/v2/models/{MODEL}/ready"))).status != 503:
                await asyncio.sleep(0.05)
        ready = await client.ask(get("/v2/health/ready"))
        assert (ready.status, ready.json) == (503, {"ready": False})
        answer = await client.ask(post(INFER, BODY))
        assert (answer.status, answer.headers["retry-after"]) == (503, "2")
        assert words(answer)


async def test_without_a_key_only_health_is_answered() -> None:
    keys = {"api_keys_sha256": (sha256(b"sk-right").hexdigest(),)}
    async with tensors_over(infer, admission=keys) as rig, connected(rig.port) as client:
        for path in ("/v2/health/live", "/v2/health/ready"):
            assert (await client.ask(get(path))).status == 200
        for request in (get("/v2"), get(f"/v2/models/{MODEL}"), get(f"/v2/models/{MODEL}/ready"), post(INFER, BODY)):
            answer = await client.ask(request)
            assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
            assert words(answer)
        assert (await client.ask(post(INFER, BODY, "authorization: Bearer sk-right"))).status == 200
