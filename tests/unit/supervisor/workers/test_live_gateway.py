"""A gateway takes another fleet and other settings between two events of a stream."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec import structs

from heterodyne.admission.settings import AdmissionSettings
from heterodyne.assembly.gateway import running_gateway
from heterodyne.config.settings import Settings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.routing.settings import RoutingSettings
from heterodyne.supervisor.configured_replicas import remote_replicas
from heterodyne.supervisor.workers.live_gateway import LiveGateway
from heterodyne.telemetry.settings import TelemetrySettings
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from tests.support.raw_client import ask, connected
from tests.support.requests import MODEL, chat

TOKENS = 20


@asynccontextmanager
async def live(*engines: ScriptedEngine) -> AsyncIterator[LiveGateway]:
    settings = Settings(
        gateway=GatewaySettings(port=0),
        telemetry=TelemetrySettings(records="off", log_level="error"),
        pools={"pool": PoolSettings(model=MODEL, urls=tuple(engine.url for engine in engines))},
    )
    async with running_gateway(settings, remote_replicas(settings)) as gateway:
        await until_takeable(gateway, len(engines))
        yield gateway


async def until_takeable(gateway: LiveGateway, count: int) -> None:
    async with asyncio.timeout(30):
        while gateway.takeable() != count:
            await asyncio.sleep(0.005)


async def test_a_stream_ends_whole_though_its_replica_and_its_rules_are_gone() -> None:
    async with (
        ScriptedEngine(behaviours.stream(TOKENS, delay_s=0.02)) as old,
        ScriptedEngine(old.behaviour) as new,
        live(old) as gateway,
        connected(gateway.server.port) as client,
    ):
        await client.send(chat(stream=True))
        _, headers = await client.head()
        settings = structs.replace(
            gateway.settings,
            routing=RoutingSettings(ejection_failures=2),
            pools={"other": PoolSettings(model=MODEL, urls=(new.url,))},
        )
        gateway.apply(settings, remote_replicas(settings), {}, version=2)
        await until_takeable(gateway, 1)
        assert (await ask(gateway.server.port, chat())).status == 200
        assert len(new.calls) == 1
        rest = await client.body(headers)
        assert rest.count(b"hello") == TOKENS
        view = gateway.view("worker-0")
        assert (view.version, [one.id for one in view.fleet.replicas]) == (2, ["other-0"])
        assert view.in_flight_by_replica == {}
        assert [one.replica for one in view.health.replicas] == ["other-0"]


async def test_keys_and_the_size_of_the_house_hold_from_the_next_request_on() -> None:
    async with (
        ScriptedEngine(behaviours.stream(TOKENS, delay_s=0.02)) as engine,
        live(engine) as gateway,
        connected(gateway.server.port) as client,
    ):
        await client.send(chat(stream=True))
        _, headers = await client.head()
        small = structs.replace(gateway.settings, admission=AdmissionSettings(in_flight_max=1))
        gateway.apply(small, remote_replicas(small), {}, version=2)
        assert (await ask(gateway.server.port, chat())).status == 503
        keyed = structs.replace(small, admission=AdmissionSettings(api_keys_sha256=("0" * 64,)))
        gateway.apply(keyed, remote_replicas(keyed), {}, version=3)
        assert (await ask(gateway.server.port, chat())).status == 401
        assert (await client.body(headers)).count(b"hello") == TOKENS


async def test_a_drained_replica_is_emptying_until_its_last_answer() -> None:
    async with (
        ScriptedEngine(behaviours.stream(TOKENS, delay_s=0.01)) as engine,
        live(engine) as gateway,
        connected(gateway.server.port) as client,
    ):
        await client.send(chat(stream=True))
        _, headers = await client.head()
        assert not gateway.is_emptying()
        drained = tuple(structs.replace(one, is_draining=True) for one in remote_replicas(gateway.settings))
        gateway.apply(gateway.settings, drained, {}, version=2)
        assert gateway.is_emptying()
        assert (await ask(gateway.server.port, chat())).status == 503
        assert (await client.body(headers)).count(b"hello") == TOKENS
        assert not gateway.is_emptying()
