"""What engines say of themselves, with the labels of the pool they are in."""

from heterodyne.control import fleet_meters
from heterodyne.control.prober import ProbeResult
from heterodyne.domain.engine_load import EngineLoad
from heterodyne.emulator.server import EmulatorServer
from heterodyne.telemetry import metrics
from heterodyne.telemetry.meters import Labels, Meter
from tests.support.emulators import order
from tests.support.raw_client import ask
from tests.support.requests import chat
from tests.support.watches import replica, watching

MODEL = "llama-3.1-8b"
ENGINE_METERS = (*fleet_meters.GAUGES, *fleet_meters.COUNTERS)


def value(meter: Meter, labels: Labels) -> float | None:
    return next((sample.values[0] for sample in meter.samples() if sample.labels == labels), None)


def probe(load: EngineLoad | None = None, *, is_ready: bool = True) -> ProbeResult:
    return ProbeResult(at_s=1.0, took_s=0.1, is_ready=is_ready, load=load, load_at_s=1.0)


async def test_an_engines_own_counts_are_passed_on_and_leave_with_it() -> None:
    async with EmulatorServer(order()) as engine:
        fleet = replica(engine.port, model=MODEL, engine="vllm", hardware="h100")
        labels = (fleet.pool, fleet.id, "h100")
        async with watching(fleet) as watched:
            await watched.until(lambda: value(metrics.engine_output_tokens, labels) is not None)
            for _ in range(2):
                assert (await ask(engine.port, chat(model=MODEL, max_tokens=5))).status == 200
            await watched.until(lambda: value(metrics.engine_output_tokens, labels) == 10)
            assert (value(metrics.engine_prompt_tokens, labels) or 0) > 0
            assert value(metrics.engine_prefix_query_tokens, labels) is not None
            watched.watch.update(())
            assert all(value(meter, labels) is None for meter in ENGINE_METERS)


def test_a_count_goes_back_only_with_a_restart() -> None:
    one = replica(1, index=7, hardware="l4")
    labels = (one.pool, one.id, "l4")
    said = EngineLoad(prompt_tokens=100.0, output_tokens=50.0, prefix_query_tokens=100.0, prefix_hit_tokens=25.0)
    fleet_meters.observe(one, one, probe(said), has_restarted=False)
    assert value(metrics.engine_prefix_hit_ratio, labels) == 0.25
    # A difference of two counters that are not read in the same instant.
    fleet_meters.observe(one, one, probe(EngineLoad(prompt_tokens=99.0, output_tokens=51.0)), has_restarted=False)
    assert value(metrics.engine_prompt_tokens, labels) == 100
    assert value(metrics.engine_output_tokens, labels) == 51
    fleet_meters.observe(one, one, probe(EngineLoad(prompt_tokens=3.0, output_tokens=2.0)), has_restarted=True)
    assert value(metrics.engine_prompt_tokens, labels) == 3
    assert value(metrics.engine_prefix_query_tokens, labels) is None
    fleet_meters.forget(one)


def test_counts_of_a_replica_that_is_not_seen_are_not_kept() -> None:
    one = replica(1, index=8)
    fleet_meters.observe(one, one, probe(EngineLoad(running=2, output_tokens=50.0)), has_restarted=False)
    fleet_meters.observe(one, one, probe(is_ready=False), has_restarted=False)
    assert value(metrics.engine_output_tokens, (one.pool, one.id, "")) is None
    fleet_meters.forget(one)
    assert value(metrics.engine_running, (one.pool, one.id, "")) is None
