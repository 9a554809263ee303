"""What replicas serve, as they say themselves."""

import time

import msgspec
import pytest

from heterodyne.config.settings import Settings
from heterodyne.domain.fleet import Health
from heterodyne.emulator.server import EmulatorServer
from heterodyne.fleet.settings import PoolSettings
from heterodyne.supervisor.configured_replicas import remote_replicas
from heterodyne.telemetry import metrics
from tests.support.emulators import CONTEXT_TOKENS, order
from tests.support.watches import Pages, replica, watching

MODEL = "llama-3.1-8b"


async def test_an_emulated_engine_tells_its_context_its_adapters_and_its_load() -> None:
    async with EmulatorServer(order(adapters=("sql",))) as engine:
        fleet = replica(engine.port, model=MODEL, engine="vllm", adapters={"chat": "/srv/chat"}, hardware="h100")
        began_s = time.monotonic()
        async with watching(fleet) as watched:
            await watched.until_health(Health.READY)
            latest = watched.latest()
            assert latest.context_tokens == CONTEXT_TOKENS
            assert latest.adapters == {"chat": "/srv/chat", "sql": None}
            assert latest.adapters_listed == ("sql",)
            assert latest.load is not None
            assert latest.load.running == 0
            assert latest.load.block_tokens == engine.order.scheduling.block_tokens
            assert latest.load_at_s is not None
            assert began_s <= latest.load_at_s <= time.monotonic()
            assert watched.kinds() == set()
            labels = ("p", "p-0", "h100")
            assert metrics.engine_running.cell(labels) == [0.0]
            assert metrics.replica_ready.cell(("p", "p-0")) == [1.0]


async def test_an_engine_with_another_model_gets_no_work_until_it_has_the_right_one() -> None:
    engine = EmulatorServer(order(served_model="qwen3-32b"))
    await engine.open()
    try:
        settings = Settings(pools={"h100": PoolSettings(model=MODEL, engine="vllm", urls=("http://x:1", engine.url))})
        _, second = remote_replicas(settings)
        async with watching(second) as watched:
            await watched.until_health(Health.DOWN)
            assert (
                watched.seen().problems[0].text.startswith(f'pools.h100.urls[1]: serves "qwen3-32b", not "{MODEL}"; ')
            )
            assert watched.seen().serves == ("qwen3-32b",)
            assert not watched.probes
            await engine.close()
            engine.order = msgspec.structs.replace(engine.order, served_model=MODEL)
            await engine.open()
            await watched.until_health(Health.READY)
            assert watched.kinds() == set()
    finally:
        await engine.close()


async def test_the_health_page_is_not_asked_for_twice_where_it_is_the_model_list() -> None:
    models = b'{"data": [{"id": "scripted", "context_length": 777}]}'
    async with Pages(v1_models=(200, models)) as engine, watching(replica(engine.port)) as watched:
        await watched.until(lambda: watched.probes["p-0"] >= 3)
        assert watched.latest().context_tokens == 777
        assert len(engine.asked) <= watched.probes["p-0"] + 1
        assert set(engine.asked) == {"/v1/models"}


async def test_a_key_goes_with_every_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THEIR_KEY", "sesame")
    async with Pages(v1_models=(200, b"{}")) as engine:
        async with watching(replica(engine.port, api_key_env="THEIR_KEY")) as watched:
            await watched.until_health(Health.READY)
        assert engine.headers[0]["authorization"] == "Bearer sesame"
