"""A fleet that grows while it serves: cold starts are waited for, drains finish, nothing is lost, hours are paid."""

from collections.abc import Sequence

import pytest
from msgspec import structs

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.fleet import PoolName
from heterodyne.planning.scaling.action import ScalingAction
from heterodyne.planning.scaling.capacity import CapacityCurve
from heterodyne.planning.scaling.limits import PoolLimits, ScalingRules
from heterodyne.planning.scaling.observation import Observation
from heterodyne.planning.scaling.peers.resize import PeerBounds
from heterodyne.planning.scaling.peers.schedule import Schedule
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.simulator.capacity_curve import LOG_MAX, counts_to, evenly
from heterodyne.simulator.growing_fleet import GrowingFleet, GrowingPool, Scaler
from heterodyne.simulator.growth_tally import GrowthTally, turns_in_worst_hour
from heterodyne.simulator.own_scaler import OwnScaler
from heterodyne.simulator.run import run
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import workload
from tests.support.simulations import SLO, pools

COLD_START_S = 40.0
CURVE = CapacityCurve(points=((1, 4.0), (8, 32.0)), prompt_token=0.0005, output_token=0.005, output_tokens=100.0)


def requests(count: int, gap_s: float, *, from_s: float = 0.0) -> list[TraceRequest]:
    return [TraceRequest(at_s=from_s + place * gap_s, prompt_tokens=1000, output_tokens=100) for place in range(count)]


def simulate(
    log: Sequence[TraceRequest], scaler: Scaler, *, first: int, spread: float = 0.0
) -> tuple[GrowthTally, int]:
    """The books, and how many were answered."""
    [template] = pools(replicas=8)
    tells = scaler.told_wait_s if isinstance(scaler, OwnScaler) else None
    growing = GrowingFleet(
        [GrowingPool(pool=template, first=first, cold_start_s=COLD_START_S, cold_start_spread=spread)],
        scaler,
        SLO,
        seed=1,
        tells=tells,
    )
    tally = run((template,), workload(log), Trial(policy="slo", seed=1, slo=SLO), growing=growing)
    return growing.close(log[-1].at_s), len(tally.total_s)


def bounds() -> PeerBounds:
    [template] = pools(replicas=8)
    return PeerBounds(pool=PoolName(template.name), minimum=0, maximum=8)


def own(**changed: object) -> OwnScaler:
    [template] = pools(replicas=8)
    limits = PoolLimits(pool=PoolName(template.name), capacity=CURVE, minimum=0, maximum=8, cold_start_s=COLD_START_S)
    return OwnScaler(ScalingRules(pools=(structs.replace(limits, **changed),)))


def test_requests_that_come_to_no_replica_are_held_and_answered_once_one_is_ready() -> None:
    scaler = own()
    tally, answered = simulate(requests(20, 1.0), scaler, first=0)
    assert answered == 20
    assert tally.refused == 0
    told_s, waited_s = tally.waits[0]
    assert (told_s, waited_s) == (pytest.approx(COLD_START_S), pytest.approx(COLD_START_S))


def test_a_cold_start_that_takes_longer_than_usual_is_told_as_it_usually_is() -> None:
    tally, _ = simulate(requests(3, 1.0), own(), first=0, spread=0.3)
    assert tally.report().told == 3
    told_s, waited_s = tally.waits[0]
    assert told_s == pytest.approx(COLD_START_S)
    assert waited_s != pytest.approx(COLD_START_S, rel=0.01)


def test_a_replica_that_is_drained_finishes_what_it_has_and_is_paid_until_then() -> None:
    log = requests(400, 0.25)
    tally, answered = simulate(log, Schedule(bounds(), [(0.0, 3), (50.0, 1)]), first=3)
    assert answered == 400
    least_s = 50.0 * 3 + 50.0
    assert least_s < tally.paid_s < least_s + 60.0


def test_a_replica_is_paid_for_from_the_moment_it_is_asked_for() -> None:
    log = requests(200, 0.5)
    tally, _ = simulate(log, Schedule(bounds(), [(0.0, 1), (20.0, 2)]), first=1)
    assert tally.paid_s == pytest.approx(log[-1].at_s + (log[-1].at_s - 20.0), abs=1.0)
    assert [(provided, ready) for _, provided, ready, _ in tally.counts] == [(1, 1), (2, 1), (2, 2)]


def test_the_same_seed_gives_the_same_fleet() -> None:
    log = requests(600, 0.2)
    first, second = (simulate(log, own(minimum=1), first=1, spread=0.2)[0] for _ in range(2))
    assert (first.counts, first.kept) == (second.counts, second.kept)


def test_more_replicas_at_first_than_the_pool_has_are_refused() -> None:
    with pytest.raises(InvalidSpec, match="9 replicas at first of 8"):
        simulate(requests(2, 1.0), own(), first=9)


def test_the_scaler_sees_what_came_what_ended_and_who_is_there() -> None:
    class Watcher:
        def __init__(self) -> None:
            self.seen: list[Observation] = []

        def look(self, seen: Observation) -> Sequence[ScalingAction]:
            self.seen.append(seen)
            return ()

    watcher = Watcher()
    simulate(requests(300, 0.2), watcher, first=2)
    assert sum(one.arrivals for one in watcher.seen) >= 250
    assert sum(one.prompt_tokens for one in watcher.seen) == 1000 * sum(one.arrivals for one in watcher.seen)
    assert all(len(one.pools[0].replicas) == 2 for one in watcher.seen)
    assert 0 < watcher.seen[3].pools[0].busy_share <= 1
    assert watcher.seen[3].in_flight > 0


def test_turns_are_counted_in_the_hour_that_has_most() -> None:
    counts = [(0.0, 2, 2, 0.0), (100.0, 3, 2, 0.0), (200.0, 4, 2, 0.0), (300.0, 3, 3, 0.0), (400.0, 5, 3, 0.0)]
    assert turns_in_worst_hour(counts) == 2
    assert turns_in_worst_hour([*counts, (9000.0, 4, 4, 0.0)]) == 2
    assert turns_in_worst_hour([]) == 0


def test_capacity_is_found_at_an_even_pace_with_requests_from_all_over_the_log() -> None:
    log = [*requests(10_000, 1.0), *requests(10_000, 0.1, from_s=10_000.0)]
    log[-1] = structs.replace(log[-1], prompt_tokens=7)
    even = evenly(log, seed=1)
    assert len(even) == LOG_MAX
    first, second = even[LOG_MAX // 2].at_s, even[-1].at_s
    assert second == pytest.approx(2 * first, rel=0.1)


def test_capacity_is_found_at_few_sizes() -> None:
    assert counts_to(1) == (1,)
    assert counts_to(16) == (1, 2, 4, 8, 16)
