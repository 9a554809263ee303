"""Several workers on one source, in any order of events, answers late or lost: limits hold and all books balance."""

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from heterodyne.admission.limits.book import LimitBook
from heterodyne.admission.limits.calendar import Calendar
from heterodyne.admission.limits.refusal import LimitRefusal
from heterodyne.admission.limits.reservation import PendingReservation, Reservation
from heterodyne.domain.tenant import Level, Limits
from heterodyne.ports.leases import NO_WINDOW, LeaseAnswer, LeaseCall
from heterodyne.stores.leases.memory import MemoryLeases
from tests.support.examples import examples

START_S = 1_800_000_000.0
MINUTE_S = 2
PROJECT = Level(
    name="project:p",
    limits=Limits(requests_per_minute=9, tokens_per_minute=60, tokens_per_day=150, usd_per_month=0.0004),
)
CALLERS = (
    (Level(name="key:a", limits=Limits(requests_per_minute=6, concurrent_requests=3)), PROJECT),
    (Level(name="key:b", limits=Limits(concurrent_requests=2)), PROJECT),
    (PROJECT,),
)
LIMIT_OF = {
    f"{level.name} {name}": round(limit * 1_000_000) if name.startswith("usd") else limit
    for levels in CALLERS
    for level in levels
    for name in Limits.__struct_fields__
    if (limit := getattr(level.limits, name)) is not None
}

workers = st.integers(0, 2)
events = st.one_of(
    st.tuples(st.just("ask"), workers, st.integers(0, 2), st.integers(0, 30), st.integers(0, 90)),
    st.tuples(st.just("ask"), workers, st.integers(0, 2), st.integers(0, 30), st.integers(0, 90)),
    st.tuples(st.just("send"), workers),
    st.tuples(st.just("hear"), workers),
    st.tuples(st.just("lose"), workers, st.booleans()),
    st.tuples(st.just("settle"), workers, st.integers(0, 20), st.floats(0, 1)),
    st.tuples(st.just("release"), workers, st.integers(0, 20)),
    st.tuples(st.just("wait"), st.sampled_from((0.05, 0.3, 1.1, 130.0))),
)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(events, min_size=20, max_size=120))
def test_no_interleaving_exceeds_a_limit_and_all_is_counted_in_the_end(happened: list[Any]) -> None:
    world = World()
    for name, *arguments in happened:
        getattr(world, name)(*arguments)
        world.check()
    world.finish()


class World:
    """Three workers, their source, and a clock."""

    def __init__(self) -> None:
        self.now_s = START_S
        self.source = MemoryLeases(clock=lambda: self.now_s, holder_ttl_s=1e9, grace_s=1e9)
        self.workers = [Worker(f"w{number}") for number in range(3)]
        self.used: Counter[tuple[str, int]] = Counter()  # by what has settled

    def ask(self, worker: int, caller: int, tokens: int, micro_usd: int) -> None:
        at = self.workers[worker]
        found = at.book.reserve(CALLERS[caller], tokens, micro_usd, self.now_s)
        if isinstance(found, PendingReservation):
            at.waiting.append(found)
        at.keep(found)

    def send(self, worker: int) -> None:
        at = self.workers[worker]
        if at.call is not None:
            return
        at.batch, at.waiting = at.waiting, []
        at.call = at.book.compose(at.batch, self.now_s)
        if at.call is None and at.batch:
            at.call = at.book.heartbeat()
        at.answer = None

    def hear(self, worker: int) -> None:
        at = self.workers[worker]
        if at.call is None:
            return
        answer = self.source.exchange_now(at.call)
        assert at.answer is None or at.answer == answer, "a call sent again has its old answer"
        for found in at.book.answered(at.call, answer, at.batch, self.now_s):
            at.keep(found)
        at.call, at.batch = None, []

    def lose(self, worker: int, was_applied: bool) -> None:
        """The answer does not come; the call stays to be sent again."""
        at = self.workers[worker]
        if at.call is not None:
            if was_applied:
                at.answer = self.source.exchange_now(at.call)
            at.book.failed(at.batch)
            at.batch = []

    def settle(self, worker: int, which: int, share: float) -> None:
        at = self.workers[worker]
        if at.open:
            reservation = at.open.pop(which % len(at.open))
            tokens, micro_usd = (int(share * amount) for amount in reservation.amounts[1:3])
            for leased_counter in reservation.leased_counters:
                self.used[leased_counter.counter, leased_counter.starts_s] += (1, tokens, micro_usd, 0)[
                    leased_counter.measure
                ]
            at.book.settle(reservation, tokens, micro_usd)
            at.book.settle(reservation, 999, 999)

    def release(self, worker: int, which: int) -> None:
        at = self.workers[worker]
        if at.open:
            at.book.release(at.open.pop(which % len(at.open)))

    def wait(self, seconds: float) -> None:
        self.now_s += seconds

    def check(self) -> None:
        """What has settled and what runs is within each limit, and the source has counted at least that."""
        claimed = Counter(self.used)
        for at in self.workers:
            for reservation in at.open:
                for leased_counter in reservation.leased_counters:
                    claimed[leased_counter.counter, leased_counter.starts_s] += reservation.amounts[
                        leased_counter.measure
                    ]
        for (counter, window), amount in claimed.items():
            assert amount <= self.source.used(counter, window) <= LIMIT_OF[counter], counter

    def finish(self) -> None:
        for number, at in enumerate(self.workers):
            self.hear(number)
            while at.open:
                self.settle(number, 0, 0.5)
            self.source.exchange_now(at.book.retire())
        for (counter, window), amount in self.used.items():
            assert self.source.used(counter, window) == amount, counter
        for counter in LIMIT_OF:
            assert self.source.used(counter, NO_WINDOW) == 0


class Worker:
    """A book, what its requests hold, and the call under way."""

    def __init__(self, name: str) -> None:
        self.book = LimitBook(name, calendar=Calendar(minute_s=MINUTE_S, day_s=60))
        self.open: list[Reservation] = []
        self.waiting: list[PendingReservation] = []
        self.batch: list[PendingReservation] = []
        self.call: LeaseCall | None = None
        self.answer: LeaseAnswer | None = None

    def keep(self, found: Reservation | LimitRefusal | PendingReservation) -> None:
        """All or nothing: a reservation holds its amount in every pot, anything else holds none."""
        if isinstance(found, Reservation):
            self.open.append(found)
