"""The rules of other systems do what their documentation says."""

from heterodyne.domain.fleet import PoolName, ReplicaId
from heterodyne.domain.replica_stage import ReplicaStage
from heterodyne.planning.scaling.action import ActionKind, ScalingAction
from heterodyne.planning.scaling.observation import Observation, PoolObservation, ScaledReplica
from heterodyne.planning.scaling.peers.apa import Apa
from heterodyne.planning.scaling.peers.hpa import Hpa
from heterodyne.planning.scaling.peers.kpa import Kpa
from heterodyne.planning.scaling.peers.llm_d_saturation import LlmDSaturation
from heterodyne.planning.scaling.peers.queue_depth import QueueDepth
from heterodyne.planning.scaling.peers.resize import PeerBounds
from heterodyne.planning.scaling.peers.schedule import Schedule

POOL = PoolName("only")
BOUNDS = PeerBounds(pool=POOL, minimum=1, maximum=20)


def seen(at_s: float, ready: int, *, warming: int = 0, **fields: float) -> Observation:
    """A pool of so many replicas; `busy_share` and `kv_share` are the pool's, the rest the model's."""
    stages = [ReplicaStage.READY] * ready + [ReplicaStage.WARMING] * warming
    of_pool = {name: fields.pop(name) for name in ("busy_share", "kv_share") if name in fields}
    pool = PoolObservation(
        pool=POOL,
        replicas=tuple(ScaledReplica(id=ReplicaId(f"r{place}"), stage=one) for place, one in enumerate(stages)),
        **of_pool,
    )
    return Observation(at_s=at_s, span_s=10.0, pools=(pool,), **fields)  # type: ignore[arg-type]


def change(actions: tuple[ScalingAction, ...]) -> int:
    """Replicas more, or fewer."""
    return sum(one.count if one.kind is ActionKind.ADD else -len(one.replicas) for one in actions)


def test_hpa_follows_the_ratio_within_its_tolerance() -> None:
    assert change(Hpa(BOUNDS).look(seen(0.0, 4, busy_share=0.86))) == 0
    assert change(Hpa(BOUNDS).look(seen(0.0, 4, busy_share=1.0))) == 1
    assert change(Hpa(BOUNDS, metric="kv_share", target=0.5).look(seen(0.0, 4, kv_share=0.9))) == 4


def test_hpa_takes_those_that_start_for_idle_on_the_way_up() -> None:
    assert change(Hpa(BOUNDS).look(seen(0.0, 4, warming=4, busy_share=1.0))) == 0


def test_hpa_goes_down_by_the_most_of_five_minutes() -> None:
    hpa = Hpa(BOUNDS)
    assert change(hpa.look(seen(0.0, 8, busy_share=0.8))) == 0
    assert change(hpa.look(seen(150.0, 8, busy_share=0.2))) == 0
    assert change(hpa.look(seen(301.0, 8, busy_share=0.2))) == -6


def test_kpa_counts_what_is_in_flight_over_a_minute() -> None:
    kpa = Kpa(BOUNDS, concurrency=10.0)
    for at_s in range(0, 62, 2):
        found = change(kpa.look(seen(float(at_s), 3, in_flight=21)))
    assert found == 0
    assert change(Kpa(BOUNDS, concurrency=10.0).look(seen(0.0, 3, in_flight=35))) == 2


def test_kpa_panics_at_twice_what_is_ready_and_does_not_go_down_for_a_minute() -> None:
    kpa = Kpa(BOUNDS, concurrency=10.0)
    assert change(kpa.look(seen(0.0, 2, in_flight=70))) == 8
    assert change(kpa.look(seen(20.0, 10, in_flight=1))) == 0
    assert change(kpa.look(seen(90.0, 10, in_flight=1))) == -5


def test_kpa_empties_a_pool_that_may_be_empty() -> None:
    bounds = PeerBounds(pool=POOL, minimum=0, maximum=5)
    assert change(Kpa(bounds, concurrency=10.0).look(seen(0.0, 1))) == -1
    assert change(Kpa(bounds, concurrency=10.0).look(seen(0.0, 0, held=1, waiting=1))) == 1


def test_apa_has_a_tolerance_on_either_side() -> None:
    assert change(Apa(BOUNDS, concurrency=10.0).look(seen(0.0, 4, in_flight=43))) == 0
    assert change(Apa(BOUNDS, concurrency=10.0).look(seen(0.0, 4, in_flight=33))) == 0
    assert change(Apa(BOUNDS, concurrency=10.0).look(seen(0.0, 4, in_flight=60))) == 2
    assert change(Apa(BOUNDS, concurrency=10.0).look(seen(0.0, 4, in_flight=10))) == -2


def test_a_queue_threshold_adds_one_at_a_time_and_waits_for_it() -> None:
    rule = QueueDepth(BOUNDS)
    assert change(rule.look(seen(0.0, 2, waiting=20))) == 0
    assert change(rule.look(seen(30.0, 2, waiting=20))) == 1
    assert change(rule.look(seen(60.0, 2, warming=1, waiting=30))) == 0
    assert change(rule.look(seen(90.0, 3))) == 0
    assert change(rule.look(seen(390.0, 3))) == -1


def test_saturation_keeps_some_cache_and_queue_free() -> None:
    assert change(LlmDSaturation(BOUNDS).look(seen(0.0, 4, kv_share=0.75))) == 1
    assert change(LlmDSaturation(BOUNDS).look(seen(0.0, 4, kv_share=0.75, waiting=0.0, in_flight=9))) == 1
    assert change(LlmDSaturation(BOUNDS).look(seen(0.0, 4, kv_share=0.6))) == 0
    assert change(LlmDSaturation(BOUNDS).look(seen(0.0, 4, kv_share=0.4))) == -1


def test_a_schedule_is_kept_within_its_bounds() -> None:
    schedule = Schedule(BOUNDS, [(0.0, 2), (100.0, 50)])
    assert change(schedule.look(seen(50.0, 2))) == 0
    assert change(schedule.look(seen(100.0, 2))) == 18
