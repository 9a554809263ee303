"""What replicas say of their load, true and not, and how a restart is noticed."""

import asyncio

import pytest

from heterodyne.control.problems import ProblemKind
from heterodyne.domain.fleet import Health
from heterodyne.emulator.faults import Faults, Lie
from heterodyne.emulator.server import EmulatorServer
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.telemetry import metrics
from tests.support.emulators import order
from tests.support.raw_client import ask
from tests.support.requests import chat
from tests.support.watches import Pages, hundredfold, replica, watching

MODEL = "llama-3.1-8b"


async def test_a_load_page_that_is_garbage_is_a_problem_and_the_replica_serves_on() -> None:
    async with (
        EmulatorServer(order()) as engine,
        watching(replica(engine.port, model=MODEL, engine="vllm")) as watched,
    ):
        await watched.until(lambda: watched.seen().load is not None)
        engine.engine.set_faults(Faults(lie=Lie.GARBAGE))
        await watched.until(lambda: watched.kinds() == {ProblemKind.LOAD_UNREAD})
        age_s = watched.seen().load_age_s or 0
        await asyncio.sleep(0.1)
        assert (watched.seen().load_age_s or 0) > age_s
        assert watched.seen().health is Health.READY
        engine.engine.set_faults(Faults())
        await watched.until(lambda: watched.kinds() == set())


async def test_a_page_that_does_not_move_while_it_answers_is_found_out() -> None:
    async with EmulatorServer(order()) as engine:
        fleet = replica(engine.port, model=MODEL, engine="vllm")
        async with watching(fleet, clock=hundredfold) as watched:
            engine.engine.set_faults(Faults(lie=Lie.FROZEN))
            await watched.until(lambda: watched.seen().load is not None)
            await asyncio.sleep(0.15)
            assert watched.kinds() == set(), "nobody asked it anything"
            for _ in range(4):
                assert (await ask(engine.port, chat(model=MODEL, max_tokens=2))).status == 200
                watched.answers["p-0"] += 1
            await watched.until(lambda: watched.kinds() == {ProblemKind.LOAD_FROZEN})
            assert "while it answered requests" in watched.seen().problems[0].text
            engine.engine.set_faults(Faults())
            await watched.until(lambda: watched.kinds() == set())


async def test_the_second_choice_of_load_pages_is_taken_where_the_first_is_not_there() -> None:
    slots = b'[{"is_processing": true, "n_ctx": 512}, {"is_processing": false, "n_ctx": 512}]'
    engine = Pages(health=(200, b'{"status":"ok"}'), v1_models=(200, b'{"data":[{"id":"m"}]}'), slots=(200, slots))
    async with engine, watching(replica(engine.port, model="m", engine="llamacpp")) as watched:
        await watched.until(lambda: watched.probes["p-0"] >= 5)
        assert watched.seen().load is not None
        assert watched.latest().load.running == 1  # type: ignore[union-attr]
        assert watched.latest().context_tokens == 512
        assert watched.kinds() == set()
        assert engine.asked.count("/metrics") == 1, "what is not there is not asked for at every look"


async def test_an_engine_without_any_load_page_is_named() -> None:
    engine = Pages(health=(200, b""), v1_models=(200, b'{"data":[{"id":"m"}]}'))
    async with engine, watching(replica(engine.port, model="m", engine="vllm")) as watched:
        await watched.until(lambda: watched.kinds() == {ProblemKind.LOAD_UNREAD})
        assert watched.seen().problems[0].text.endswith("It answers 404 to /metrics.")
        assert watched.seen().health is Health.READY


@pytest.mark.parametrize("engine_kind", [EngineKind.VLLM, EngineKind.LLAMACPP])
async def test_a_restart_is_noticed_by_the_start_time_or_by_the_counters(engine_kind: EngineKind) -> None:
    hours = iter(range(1, 100))
    engine = EmulatorServer(order(engine_kind), wall_clock=lambda: next(hours) * 3600.0)
    await engine.open()
    try:
        async with watching(replica(engine.port, model=MODEL, engine=engine_kind.value)) as watched:
            await watched.until_health(Health.READY)
            before = metrics.replica_restarts.cell(("p", "p-0"))[0]
            assert (await ask(engine.port, chat(model=MODEL, max_tokens=2))).status == 200
            await watched.until(lambda: bool(watched.seen().load.output_tokens))  # type: ignore[union-attr]
            await engine.close()
            await engine.open()
            await watched.until(lambda: watched.seen().restarts == 1)
            assert watched.restarts == {"p-0": 1}
            assert metrics.replica_restarts.cell(("p", "p-0"))[0] == before + 1
            await watched.until_health(Health.READY)
            await watched.until(lambda: watched.probes["p-0"] >= 5)
            assert watched.seen().restarts == 1
    finally:
        await engine.close()
