"""Whatever happens to replicas: nobody is out for ever, never too many at once, and no budget is overdrawn."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import json

from heterodyne.domain.fleet import FleetSnapshot, Health, PoolName, Replica, ReplicaId
from heterodyne.routing.health.adaptive_limit import AdaptiveLimit
from heterodyne.routing.health.fleet_health import FleetHealth
from heterodyne.routing.health.model_health import SLOTS, HedgeBudget, RetryBudget
from heterodyne.routing.health.outcome import FAILURES, Outcome
from heterodyne.routing.health.replica_health import ReplicaHealth
from heterodyne.routing.health.snapshot import Obstacle
from heterodyne.routing.settings import RoutingSettings
from tests.support.examples import examples

REPLICAS = 24
POOLS = 3
# Small numbers, so that a short run reaches every corner.
SETTINGS = RoutingSettings(
    ejection_failures=2,
    ejection_share_max=0.25,
    success_rate_replicas_min=3,
    success_rate_requests_min=4,
    breaker_failures=3,
    concurrency_initial=4,
    concurrency_min=1,
    concurrency_max=6,
    retry_reserve_tokens_per_s=10,
)
IDLE = {Obstacle.FULL, Obstacle.PAUSED}

gaps_s = st.sampled_from([0.0, 0.01, 0.3, 1.0, 4.0, 9.0, 40.0])
outcomes = st.one_of(st.sampled_from(sorted(FAILURES)), st.sampled_from(Outcome))
attempts = st.tuples(st.just("attempt"), st.integers(0, REPLICAS - 1), outcomes)
begun = st.tuples(st.just("begin"), st.integers(0, REPLICAS - 1), st.floats(0.0, 300.0))
ended = st.tuples(st.just("end"), st.integers(0, 1000), outcomes)
probed = st.tuples(st.just("probe"), st.integers(0, REPLICAS - 1), st.none())
fleets = st.tuples(st.just("fleet"), st.integers(1, REPLICAS), st.sets(st.integers(0, REPLICAS - 1)))
second = st.tuples(st.just("second"), st.integers(1, 400), st.none())
events = st.tuples(gaps_s, st.one_of(attempts, attempts, begun, ended, probed, fleets, second))
days = st.lists(events, max_size=120)
Event = tuple[float, tuple[str, int, object]]


def fleet_of(count: int, down: Sequence[int] | set[int] = ()) -> FleetSnapshot:
    return FleetSnapshot.of(
        1,
        tuple(
            Replica(
                id=ReplicaId(f"r{number}"),
                pool=PoolName(f"p{number % POOLS}"),
                model="m",
                engine="openai",
                host="h",
                port=1,
                health=Health.DOWN if number in down else Health.READY,
            )
            for number in range(count)
        ),
    )


class Day:
    """A fleet, its clock, and the requests that run."""

    def __init__(self) -> None:
        self.now_s = 1000.0
        self.snapshot = fleet_of(REPLICAS)
        self.fleet = FleetHealth(SETTINGS, self.snapshot, self.now_s)
        self.running: list[tuple[ReplicaHealth, int]] = []

    def live(self, event: Event) -> None:
        gap_s, (kind, number, detail) = event
        self.now_s += gap_s
        if kind == "fleet":
            assert isinstance(detail, set)
            self.snapshot = fleet_of(number, detail)
            self.fleet.publish(self.snapshot, self.now_s)
        elif kind == "end":
            if self.running:
                replica_health, trial = self.running.pop(number % len(self.running))
                replica_health.on_end(Outcome(str(detail)), self.now_s, trial)
        elif kind == "second":
            self.fleet.try_retry("m", number, self.now_s)
            self.fleet.try_hedge("m")
        elif kind == "probe":
            self.fleet.on_probe(ReplicaId(f"r{number}"), self.now_s)
        else:
            replica_health = self.fleet.of(ReplicaId(f"r{number % len(self.snapshot.replicas)}"))
            trial = replica_health.on_start(self.now_s, 50)
            if isinstance(detail, float):
                replica_health.on_first_token(self.now_s, 1.0, detail, trial)
                self.running.append((replica_health, trial))
            else:
                replica_health.on_end(Outcome(str(detail)), self.now_s, trial)

    def end_everything(self) -> None:
        for replica_health, trial in self.running:
            replica_health.on_end(Outcome.CANCELLED, self.now_s, trial)
        self.running.clear()


@given(days)
@settings(max_examples=examples(150), deadline=None)
def test_never_more_than_the_share_of_a_pool_is_ejected(day: list[Event]) -> None:
    lived = Day()
    for event in day:
        lived.live(event)
        seen = {one.replica: one for one in lived.fleet.snapshot(lived.now_s).replicas}
        for pool in {replica.pool for replica in lived.snapshot.replicas}:
            members = [replica.id for replica in lived.snapshot.replicas if replica.pool == pool]
            out = sum(seen[name].ejected_until_s is not None for name in members)
            assert out <= (max(1, int(len(members) * 0.25)) if len(members) > 1 else 0)


@given(days)
@settings(max_examples=examples(100), deadline=None)
def test_everybody_comes_back_in_bounded_time(day: list[Event]) -> None:
    lived = Day()
    for event in day:
        lived.live(event)
    lived.end_everything()
    lived.now_s += SETTINGS.ejection_max_s
    ready = [replica for replica in lived.snapshot.replicas if replica.health is Health.READY]
    assert list(lived.fleet.usable("m", lived.now_s)) == ready
    seen = lived.fleet.snapshot(lived.now_s)
    assert all(one.ejected_until_s is None and one.weight == 1.0 for one in seen.replicas)
    assert not seen.models[0].is_panicking


@given(days)
@settings(max_examples=examples(150), deadline=None)
def test_the_usable_are_ready_with_room_and_in_good_standing_unless_in_panic_or_all_are_full(day: list[Event]) -> None:
    lived = Day()
    for event in day:
        lived.live(event)
        usable = {replica.id for replica in lived.fleet.usable("m", lived.now_s)}
        seen = lived.fleet.snapshot(lived.now_s)
        obstacles = {one.replica: one.obstacle for one in seen.replicas}
        ready = {replica.id for replica in lived.snapshot.replicas if replica.health is Health.READY}
        rooms = {one.replica for one in seen.replicas if one.in_flight < one.in_flight_limit}
        full = {name for name in ready if obstacles[name] is Obstacle.FULL}
        assert usable <= ready & rooms or usable == full, "a learned limit sends work elsewhere and never away"
        if not seen.models[0].is_panicking:
            assert usable == ({name for name in ready if obstacles[name] is None} or full)
            judged = {name for name in ready if obstacles[name] is not None and obstacles[name] not in IDLE}
            assert not judged or len(ready - judged) * 2 >= len(lived.snapshot.replicas)
        elif usable != full:
            assert {name for name in ready if obstacles[name] not in IDLE} & rooms >= usable


@given(st.integers(1, 12), st.lists(st.tuples(gaps_s, st.integers(0, 11), outcomes), max_size=150))
@settings(max_examples=examples(150), deadline=None)
def test_a_model_with_a_ready_replica_that_has_room_is_never_without_one(
    count: int, ends: list[tuple[float, int, Outcome]]
) -> None:
    fleet, now_s = FleetHealth(RoutingSettings(ejection_failures=2, breaker_failures=2), fleet_of(count), 0.0), 0.0
    for gap_s, number, outcome in ends:
        now_s += gap_s
        replica_health = fleet.of(ReplicaId(f"r{number % count}"))
        said = Outcome.BROKE if outcome is Outcome.REFUSED_BUSY else outcome  # a refusal is a lack of room
        replica_health.on_end(said, now_s, replica_health.on_start(now_s, 10))
        assert fleet.usable("m", now_s)


@given(days)
@settings(max_examples=examples(100), deadline=None)
def test_the_ledger_is_never_negative_and_returns_to_zero(day: list[Event]) -> None:
    lived = Day()
    for event in day:
        lived.live(event)
        seen = lived.fleet.snapshot(lived.now_s)
        model = seen.models[0]
        assert min(model.retry_tokens_available, model.retry_tokens_spent, model.hedges, model.panics) >= 0
        assert all(min(one.in_flight, one.ejections, *one.outcomes.values()) >= 0 for one in seen.replicas)
    lived.end_everything()
    assert all(one.in_flight == 0 for one in lived.fleet.snapshot(lived.now_s).replicas)


@given(days)
@settings(max_examples=examples(100), deadline=None)
def test_the_same_events_make_the_same_standing_whoever_looks(day: list[Event]) -> None:
    first, second, unseen = Day(), Day(), Day()
    for event in day:
        for lived in (first, second, unseen):
            lived.live(event)
        assert first.fleet.usable("m", first.now_s) == second.fleet.usable("m", second.now_s)
    seen = first.fleet.snapshot(first.now_s)
    assert json.encode(seen) == json.encode(second.fleet.snapshot(second.now_s))
    assert seen.replicas == unseen.fleet.snapshot(unseen.now_s).replicas


@given(st.lists(st.tuples(st.floats(0.0, 6.0), st.booleans(), st.integers(1, 100_000)), max_size=100))
@settings(max_examples=examples(300), deadline=None)
def test_retries_of_any_window_stay_within_its_deposits_and_the_reserve(steps: list[tuple[float, bool, int]]) -> None:
    window_s, reserve = 10.0, 5000.0
    budget = RetryBudget(share=0.2, window_s=window_s, reserve_tokens_per_s=reserve / window_s)
    now_s, booked = 50.0, []
    for gap_s, is_retry, tokens in steps:
        now_s += gap_s
        if not is_retry:
            budget.deposit(tokens, now_s)
            booked.append((now_s, 0.2 * tokens, 0))
        elif budget.try_spend(tokens, now_s):
            booked.append((now_s, 0.0, tokens))
            slot = int(now_s * SLOTS / window_s)
            recent = [one for one in booked if int(one[0] * SLOTS / window_s) > slot - SLOTS]
            assert sum(spent for _, _, spent in recent) <= sum(earned for _, earned, _ in recent) + reserve + 1e-6
    windows = (now_s - 50.0) / window_s + 2
    assert sum(spent for _, _, spent in booked) <= sum(earned for _, earned, _ in booked) + reserve * windows


@given(st.lists(st.booleans(), min_size=25, max_size=400), st.sampled_from([0.0, 0.05, 0.3, 1.0]))
def test_hedges_never_exceed_their_share(steps: list[bool], share: float) -> None:
    budget = HedgeBudget(share)
    for requests, wants_hedge in enumerate(steps, start=1):
        budget.deposit()
        if wants_hedge:
            budget.try_spend()
        assert budget.spent <= share * requests + 1e-9


samples = st.lists(
    st.one_of(
        st.tuples(st.floats(0.0, 1e6), st.integers(0, 400)),
        st.tuples(st.none(), st.integers(0, 400)),  # a refusal
    ),
    max_size=300,
)


@given(samples)
@settings(max_examples=examples(200), deadline=None)
def test_the_limit_stays_within_its_bounds_and_grows_back(history: list[tuple[float | None, int]]) -> None:
    limit = AdaptiveLimit(
        initial=20,
        lowest=4,
        highest=200,
        tolerance=1.5,
        queue=4,
        smoothing=0.2,
        samples=600,
        pause_s=0.25,
        pause_max_s=5.0,
    )
    for ratio, in_flight in history:
        if ratio is None:
            limit.on_refused(0.0)
        else:
            limit.on_sample(ratio, in_flight)
        assert 4 <= limit.limit <= 200
    for _ in range(2000):
        limit.on_sample(1.0, limit.limit)
    assert limit.limit == 200
