"""Pages that need no key tell strangers no names: of tenants on /metrics, of models on /health/ready."""

from collections.abc import Iterator

import pytest

from heterodyne.telemetry import metrics
from heterodyne.testing import behaviours
from tests.support.gateways import gateway_over
from tests.support.raw_client import ask
from tests.support.requests import MODEL, get
from tests.support.tenants import bearer, caller, tenants

LEVEL = "project:only-in-this-test/search"
TENANTS = tenants(key=caller())
STRANGE = "x-forwarded-for: 203.0.113.9"
REBOUND = b"GET /metrics HTTP/1.1\r\nhost: evil.example\r\n\r\n"


@pytest.fixture(autouse=True)
def used_limit() -> Iterator[None]:
    metrics.limit_used.set((LEVEL, "usd_per_day"), 0.5)
    yield
    metrics.limit_used.forget((LEVEL, "usd_per_day"))


async def test_open_metrics_name_tenants_to_this_machine_and_to_nobody_else() -> None:
    async with gateway_over(behaviours.answer(), tenants=TENANTS) as rig:
        local, strange = await ask(rig.port, get("/metrics")), await ask(rig.port, get("/metrics", STRANGE))
        keyed = await ask(rig.port, get("/metrics", STRANGE, bearer("key")))
        rebound = await ask(rig.port, REBOUND)
    assert LEVEL.encode() in local.body
    for other in (strange, keyed, rebound):
        assert other.status == 200
        assert b"heterodyne_gateway_requests_total" in other.body
        assert LEVEL.encode() not in other.body, "a tenant may not know of others either"


async def test_a_keyless_gateway_gives_metrics_to_its_own_names_only() -> None:
    async with gateway_over(behaviours.answer()) as rig:
        assert (await ask(rig.port, get("/metrics"))).status == 200
        refused = await ask(rig.port, REBOUND)
        assert (refused.status, refused.error["code"]) == (421, "unknown_host")
        probe = await ask(rig.port, b"GET /health/live HTTP/1.1\r\nhost: 10.0.0.7:8080\r\n\r\n")
        assert probe.status == 200, "probes call us by our address"


async def test_metrics_may_need_a_key_on_this_machine_too() -> None:
    async with gateway_over(behaviours.answer(), tenants=TENANTS, gateway={"metrics_access": "key"}) as rig:
        refused = await ask(rig.port, get("/metrics"))
        assert (refused.status, refused.error["code"]) == (401, "invalid_api_key")
        assert (await ask(rig.port, get("/metrics", bearer("key")))).status == 200
        assert (await ask(rig.port, get("/health/ready"))).status == 200


async def test_readiness_names_models_to_those_who_may_know_them() -> None:
    async with gateway_over(behaviours.answer(), tenants=TENANTS) as rig:
        assert (await ask(rig.port, get("/health/ready"))).json == {"status": "ready", "models": {MODEL: "ready"}}
        for strange in (STRANGE, "x-real-ip: 203.0.113.9"):
            answer = await ask(rig.port, get("/health/ready", strange))
            assert (answer.status, answer.json) == (200, {"status": "ready", "models": {}})
        keyed = await ask(rig.port, get("/health/ready", STRANGE, bearer("key")))
        assert keyed.json["models"] == {MODEL: "ready"}
