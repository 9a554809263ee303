"""The conformance cases that the Gateway API Inference Extension publishes, as far as they ask something of a picker.

Each test is named as the manifest it goes by; docs/guides/endpoint-picker.md says what becomes of the others.
"""

import asyncio
import os
import re
import sys
import tarfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support import requests
from tests.support.envoy import needs_envoy
from tests.support.inference_gateway import MODEL, InferenceGateway, documents, inference_gateway
from tests.support.raw_client import Answer, ask

DATA = Path(os.environ.get("HETERODYNE_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))
ARCHIVE = DATA / "conformance" / "gie_conformance_manifests.tar.xz"
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "endpoint-picker.md"
CASES = "conformance/tests/"
PRIMARY, SECONDARY = "primary-inference-pool", "secondary-inference-pool"
GATEWAY, OTHER_GATEWAY = "conformance-primary", "conformance-secondary"
REQUESTS, AT_ONCE = 100, 10  # as the published tests have it
BODY = msgspec.json.encode({"model": MODEL, "prompt": "Write as if you were a critic: San Francisco"})
SELECTED, SERVED = "x-conformance-test-selected-endpoint", "x-conformance-test-served-endpoint"

pytestmark = [
    needs_envoy,
    pytest.mark.skipif(sys.platform != "linux", reason="every address of 127.0.0.0/8 is the machine's own on Linux"),
    pytest.mark.skipif(
        not ARCHIVE.exists(), reason=f"no {ARCHIVE}; HETERODYNE_SHARED_DATA names the folder above `conformance`"
    ),
]


def published(name: str) -> list[dict[str, Any]]:
    with tarfile.open(ARCHIVE) as archive:
        member = archive.extractfile(name)
        assert member is not None
        return documents(member.read())


@asynccontextmanager
async def gateway_of(case: str, folder: Path, **more: Any) -> AsyncIterator[InferenceGateway]:
    """By the base manifests and those of one case."""
    base, found = published("conformance/resources/base.yaml"), published(f"{CASES}{case}.yaml")
    routes = [one for one in found if one["kind"] == "HTTPRoute"]
    async with inference_gateway(base, routes, folder, **more) as gateway:
        yield gateway


def sent(path: str, host: str = "primary.example.com", *headers: str) -> bytes:
    return requests.post(path, BODY, *headers).replace(b"host: localhost", f"host: {host}".encode())


async def many(port: int, request: bytes, count: int = REQUESTS) -> list[Answer]:
    turns = asyncio.Semaphore(AT_ONCE)

    async def one() -> Answer:
        async with turns:
            return await ask(port, request)

    answers = await asyncio.gather(*(one() for _ in range(count)))
    assert {one.status for one in answers} == {200}
    assert all(one.headers[SELECTED] == one.headers[SERVED] for one in answers)
    return answers


def hosts_of(answers: list[Answer]) -> Counter[str]:
    return Counter(one.headers[SERVED].rpartition(":")[0] for one in answers)


async def test_gateway_following_epp_routing(tmp_path: Path) -> None:
    async with gateway_of("gateway_following_epp_routing", tmp_path) as gateway:
        pods = gateway.pods[PRIMARY]
        for chosen in ([pods[2]], pods[:2], pods):
            header = f"test-epp-endpoint-selection: {','.join(chosen)}"
            answers = await many(gateway.ports[GATEWAY], sent("/primary-gateway-test", "primary.example.com", header))
            assert set(hosts_of(answers)) <= set(chosen)


async def test_gateway_following_epp_routing_dp(tmp_path: Path) -> None:
    async with gateway_of("gateway_following_epp_routing_dp", tmp_path) as gateway:
        pods = gateway.pods["dp-inference-pool"]
        ranks = {3000, 3002, 3004}
        for allowed in (
            {pods[1]: ranks},
            {pods[0]: ranks, pods[2]: {3002}},
            {pods[0]: ranks, pods[1]: {3000, 3004}, pods[2]: ranks},
        ):
            chosen = [
                one
                for pod, ports in allowed.items()
                for one in ([pod] if ports == ranks else [f"{pod}:{port}" for port in ports])
            ]
            header = f"test-epp-endpoint-selection: {','.join(chosen)}"
            request = sent("/primary-gateway-dp-test", "primary.example.com", header)
            for answer in await many(gateway.ports[GATEWAY], request):
                host, _, port = answer.headers[SERVED].rpartition(":")
                assert int(port) in allowed[host]


async def test_gateway_destination_endpoint_served(tmp_path: Path) -> None:
    async with gateway_of("gateway_destination_endpoint_served", tmp_path) as gateway:
        for pod in gateway.pods[PRIMARY]:
            header = f"test-epp-endpoint-selection: {pod}"
            request = sent("/destination-endpoint-served-test", "primary.example.com", header)
            answer = await ask(gateway.ports[GATEWAY], request)
            assert answer.headers[SERVED] == f"{pod}:3000"


async def test_gateway_weighted_two_pools(tmp_path: Path) -> None:
    async with gateway_of("gateway_weighted_two_pools", tmp_path) as gateway:
        served = hosts_of(await many(gateway.ports[GATEWAY], sent("/weighted-two-pools-test"), 200))
        primary = sum(served[pod] for pod in gateway.pods[PRIMARY])
        secondary = sum(served[pod] for pod in gateway.pods[SECONDARY])
        assert primary + secondary == 200
        assert 100 <= primary <= 180, "70 % of 200, and five standard deviations on either side"


async def test_httproute_multiple_gateways_different_pools(tmp_path: Path) -> None:
    async with gateway_of("httproute_multiple_gateways_different_pools", tmp_path) as gateway:
        for name, path, host, pool in (
            (GATEWAY, "/test-primary-gateway", "primary.example.com", PRIMARY),
            (OTHER_GATEWAY, "/test-secondary-gateway", "secondary.example.com", SECONDARY),
        ):
            answers = await many(gateway.ports[name], sent(path, host), 20)
            assert set(hosts_of(answers)) <= set(gateway.pods[pool])


async def test_inferencepool_multiple_rules_different_pools(tmp_path: Path) -> None:
    async with gateway_of("inferencepool_multiple_rules_different_pools", tmp_path) as gateway:
        for path, pool in (("/primary", PRIMARY), ("/secondary", SECONDARY)):
            answers = await many(gateway.ports[GATEWAY], sent(path), 20)
            assert set(hosts_of(answers)) <= set(gateway.pods[pool])


async def test_inferencepool_accepted(tmp_path: Path) -> None:
    async with gateway_of("inferencepool_accepted", tmp_path) as gateway:
        answers = await many(gateway.ports[GATEWAY], sent("/accepted-pool-test"), 20)
        assert set(hosts_of(answers)) <= set(gateway.pods[PRIMARY])


async def test_inferencepool_resolvedrefs_condition(tmp_path: Path) -> None:
    async with gateway_of("inferencepool_resolvedrefs_condition", tmp_path) as gateway:
        for name, path, host in (
            (GATEWAY, "/primary-gateway-test", "primary.example.com"),
            (OTHER_GATEWAY, "/secondary-gateway-test", "secondary.example.com"),
        ):
            answers = await many(gateway.ports[name], sent(path, host), 20)
            assert set(hosts_of(answers)) <= set(gateway.pods[PRIMARY])


async def test_inferencepool_httproute_port_validation(tmp_path: Path) -> None:
    async with gateway_of("inferencepool_httproute_port_validation", tmp_path) as gateway:
        for case in ("unspecified", "matching", "non-matching"):
            path, host = f"/test-port-{case}", f"port-{case}.example.com"
            answers = await many(gateway.ports[GATEWAY], sent(path, host), 5)
            assert {one.headers[SELECTED].rpartition(":")[2] for one in answers} == {"3000"}


async def test_epp_unavailable_fail_open(tmp_path: Path) -> None:
    path, host = "/failopen-pool-test", "secondary.example.com"
    async with gateway_of("epp_unavailable_fail_open", tmp_path) as gateway:
        pod = gateway.pods[SECONDARY][1]
        chosen = sent(path, host, f"test-epp-endpoint-selection: {pod}")
        assert hosts_of(await many(gateway.ports[OTHER_GATEWAY], chosen, 5)) == {pod: 5}
    (tmp_path / "away").mkdir()
    async with gateway_of("epp_unavailable_fail_open", tmp_path / "away", pickers_away=[SECONDARY]) as gateway:
        answers = [await ask(gateway.ports[OTHER_GATEWAY], sent(path, host)) for _ in range(6)]
        assert {one.status for one in answers} == {200}
        assert all(SELECTED not in one.headers for one in answers)


def test_every_published_case_is_accounted_for() -> None:
    with tarfile.open(ARCHIVE) as archive:
        cases = {Path(name).stem for name in archive.getnames() if name.startswith(CASES) and name.endswith(".yaml")}
    rows = dict(re.findall(r"^\| `(\w+)` \| (passed|not ours)", GUIDE.read_text(encoding="utf-8"), re.MULTILINE))
    assert set(rows) == cases
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert {name for name, result in rows.items() if result == "passed"} == tested & cases
