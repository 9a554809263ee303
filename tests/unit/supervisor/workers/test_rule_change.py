"""What is said of a model holds from the next request on, without a restart."""

import asyncio

from msgspec import structs

from heterodyne.assembly.gateway import running_gateway
from heterodyne.config.settings import Settings
from heterodyne.domain.fleet import FleetSnapshot
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.routing.router import Router
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.supervisor.configured_replicas import model_rules, remote_replicas
from heterodyne.supervisor.fleet.settings_reload import merged_settings, needs_restart
from heterodyne.telemetry.settings import TelemetrySettings
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from tests.support.raw_client import ask
from tests.support.requests import MODEL, chat

REQUESTS = 12


def with_model(settings: Settings, model: ModelSettings) -> Settings:
    """The same pools under another rule, by the way of a reload."""
    new = structs.replace(settings, models={MODEL: model})
    assert needs_restart(settings, new) == ()
    return merged_settings(settings, new, {})


async def test_a_requirement_moves_every_request_from_the_next_on() -> None:
    async with ScriptedEngine(behaviours.answer()) as one, ScriptedEngine(behaviours.answer()) as two:
        settings = Settings(
            gateway=GatewaySettings(port=0),
            telemetry=TelemetrySettings(records="off", log_level="error"),
            pools={
                "one": PoolSettings(model=MODEL, urls=(one.url,), labels={"place": "here"}),
                "two": PoolSettings(model=MODEL, urls=(two.url,), labels={"place": "there"}),
            },
        )
        replicas = remote_replicas(settings)
        async with running_gateway(settings, replicas, rules=model_rules(settings)) as gateway:
            async with asyncio.timeout(30):
                while gateway.takeable() != 2:
                    await asyncio.sleep(0.005)
            for place, chosen, other in (("there", two, one), ("here", one, two)):
                new = with_model(settings, ModelSettings(require_labels={"place": place}))
                gateway.apply(new, replicas, model_rules(new), version=gateway.version + 1)
                before = len(chosen.calls), len(other.calls)
                for _ in range(REQUESTS):
                    assert (await ask(gateway.server.port, chat())).status == 200
                assert (len(chosen.calls), len(other.calls)) == (before[0] + REQUESTS, before[1])


def test_another_policy_is_the_routers_from_the_next_request_on() -> None:
    settings = Settings(
        pools={
            "dear": PoolSettings(model=MODEL, urls=("http://h:1",), price_usd_per_hour=9.0, labels={"tier": "gold"}),
            "cheap": PoolSettings(model=MODEL, urls=("http://h:2",), price_usd_per_hour=1.0, labels={"tier": "none"}),
        }
    )
    replicas = remote_replicas(settings)
    router = Router(FleetSnapshot.of(0, replicas), prior_of=lambda _: None, chance=lambda: 0.5, now_s=0.0)
    request = RoutingRequest(model=MODEL, prompt_tokens=100, output_tokens=10.0)
    for version, (model, pool) in enumerate(
        (
            (ModelSettings(policy="cost"), "cheap"),
            (ModelSettings(policy="affinity", prefer_labels={"tier": "gold"}), "dear"),
            (ModelSettings(policy="mix", mix={"cost": 1.0}), "cheap"),
        )
    ):
        rules = model_rules(with_model(settings, model))
        router.publish(FleetSnapshot.of(version, replicas, rules), float(version))
        assert router.decide(request, replicas, float(version)).target.pool == pool
