"""One worker's account of limits, with counters in memory and a clock that stands still."""

from heterodyne.admission.limits.book import LimitBook
from heterodyne.admission.limits.calendar import Calendar, LimitPeriod
from heterodyne.admission.limits.refusal import LimitRefusal
from heterodyne.admission.limits.reservation import PendingReservation, Reservation
from heterodyne.domain.errors import BudgetSpent, LimitReached
from heterodyne.domain.tenant import Level, Limits
from heterodyne.stores.leases.memory import MemoryLeases

NOON_S = 1_800_014_400.0  # Friday 15 January 2027 12:00:00 UTC
NAME = "project:acme/search"


class LimitWorker:
    """A book and its source, with nothing but function calls between them."""

    def __init__(self, name: str = "a", source: MemoryLeases | None = None) -> None:
        self.now_s = NOON_S
        self.source = source or MemoryLeases(clock=lambda: self.now_s)
        self.book = LimitBook(name)
        self.round_trips = 0

    def reserve(self, levels: tuple[Level, ...], tokens: int = 1, micro_usd: int = 0) -> Reservation | LimitRefusal:
        found = self.book.reserve(levels, tokens, micro_usd, self.now_s)
        if isinstance(found, PendingReservation):
            found = self.exchange([found])[0]
        assert not isinstance(found, PendingReservation)
        return found

    def exchange(self, waiting: list[PendingReservation]) -> list[Reservation | LimitRefusal | PendingReservation]:
        call = self.book.compose(waiting, self.now_s)
        if call is None:
            return []
        self.round_trips += 1
        return self.book.answered(call, self.source.exchange_now(call), waiting, self.now_s)

    def pass_time(self, seconds: float) -> None:
        """With a tick in each half second."""
        for _ in range(int(seconds * 2)):
            self.now_s += 0.5
            self.exchange([])

    def used(self, limit_name: str, window: int = int(NOON_S), level: str = NAME) -> int:
        return self.source.used(f"{level} {limit_name}", window)

    def retire(self) -> None:
        self.source.exchange_now(self.book.retire())


def level(name: str = NAME, **limits: float) -> tuple[Level, ...]:
    return (Level(name=name, limits=Limits(**limits)),)  # type: ignore[arg-type]


def test_as_many_requests_pass_as_may_and_then_none() -> None:
    limit_worker, levels = LimitWorker(), level(requests_per_minute=5)
    answers = [limit_worker.reserve(levels) for _ in range(7)]
    assert [type(answer) for answer in answers] == [Reservation] * 5 + [LimitRefusal] * 2


def test_the_next_minute_begins_afresh() -> None:
    limit_worker, levels = LimitWorker(), level(requests_per_minute=1)
    assert isinstance(limit_worker.reserve(levels), Reservation)
    limit_worker.now_s += 59.9
    assert isinstance(limit_worker.reserve(levels), LimitRefusal)
    limit_worker.now_s += 0.1
    assert isinstance(limit_worker.reserve(levels), Reservation)


def test_what_was_not_used_comes_back_and_what_was_used_beyond_is_counted() -> None:
    limit_worker, levels = LimitWorker(), level(tokens_per_minute=100)
    first = limit_worker.reserve(levels, 80)
    assert isinstance(first, Reservation)
    assert isinstance(limit_worker.reserve(levels, 30), LimitRefusal)
    limit_worker.book.settle(first, 50, 0)
    second = limit_worker.reserve(levels, 30)
    assert isinstance(second, Reservation)
    limit_worker.book.settle(second, 70, 0)
    assert isinstance(limit_worker.reserve(levels, 1), LimitRefusal)
    limit_worker.retire()
    assert limit_worker.used("tokens_per_minute") == 120


def test_one_after_the_other_never_exceeds_the_limit_by_more_than_one_estimates_error() -> None:
    limit_worker, levels = LimitWorker(), level(tokens_per_minute=1000)
    used = 0
    while isinstance(reserved := limit_worker.reserve(levels, 30), Reservation):
        limit_worker.book.settle(reserved, 47, 0)
        used += 47
    assert 1000 - 30 < used <= 1000 + 17
    limit_worker.retire()
    assert limit_worker.used("tokens_per_minute") == used


def test_a_request_that_never_ran_does_not_count_at_all() -> None:
    limit_worker, levels = (
        LimitWorker(),
        level(requests_per_minute=1, tokens_per_minute=10, concurrent_requests=1, usd_per_day=1),
    )
    for _ in range(3):
        reserved = limit_worker.reserve(levels, 10, 1_000_000)
        assert isinstance(reserved, Reservation)
        limit_worker.book.release(reserved)
        limit_worker.book.release(reserved)
    limit_worker.retire()
    assert limit_worker.used("requests_per_minute") == limit_worker.used("tokens_per_minute") == 0


def test_all_levels_pass_or_none_is_touched() -> None:
    key = level("key:k", requests_per_minute=10)
    levels = key + level(tokens_per_minute=5) + level("organisation:acme", requests_per_minute=10)
    limit_worker = LimitWorker()
    refused = [limit_worker.reserve(levels, 6), limit_worker.reserve(levels, 4), limit_worker.reserve(levels, 4)]
    assert [type(answer) for answer in refused] == [LimitRefusal, Reservation, LimitRefusal]
    limit_worker.retire()
    assert limit_worker.used("requests_per_minute", level="key:k") == 1
    assert limit_worker.used("requests_per_minute", level="organisation:acme") == 1


def test_places_of_requests_that_have_ended_are_free_again() -> None:
    limit_worker, levels = LimitWorker(), level(concurrent_requests=2)
    first, second = limit_worker.reserve(levels), limit_worker.reserve(levels)
    assert isinstance(first, Reservation)
    assert isinstance(second, Reservation)
    refused = limit_worker.reserve(levels)
    assert isinstance(refused, LimitRefusal)
    assert (
        refused.message == "project acme/search: 2 requests may run at once, and they do; try again when one has ended."
    )
    assert refused.retry_after_s == 1
    limit_worker.book.settle(first, 5, 0)
    assert isinstance(limit_worker.reserve(levels), Reservation)
    assert limit_worker.used("concurrent_requests", 0) == 2


def test_dollars_of_an_unknown_price_are_refused_once_they_are_spent() -> None:
    limit_worker, levels = LimitWorker(), level(usd_per_day=0.01)
    first = limit_worker.reserve(levels, 10, 0)
    assert isinstance(first, Reservation)
    limit_worker.book.settle(first, 10, 25_000)
    refused = limit_worker.reserve(levels, 10, 0)
    assert isinstance(refused, LimitRefusal)
    assert isinstance(refused.as_error(), BudgetSpent)
    assert refused.message == "project acme/search: $0.01 per day are used up; the next day begins in 12 h."
    assert refused.retry_after_s == 43_200


def test_a_refusal_says_which_limit_what_is_left_and_when_to_come_back() -> None:
    limit_worker, levels = LimitWorker(), level(tokens_per_minute=100_000)
    limit_worker.now_s += 37
    assert isinstance(limit_worker.reserve(levels, 99_000), Reservation)
    refused = limit_worker.reserve(levels, 5000)
    assert isinstance(refused, LimitRefusal)
    assert (refused.level, refused.limit_name, refused.limit, refused.remaining) == (
        NAME,
        "tokens_per_minute",
        100_000,
        1000,
    )
    assert refused.message == (
        "project acme/search: the request may need 5000 tokens, and of 100000 tokens per minute 1000 tokens are left; "
        "the next minute begins in 23 s."
    )
    assert isinstance(limit_worker.reserve(levels, 1000), Reservation)
    last = limit_worker.reserve(levels, 1)
    assert isinstance(last, LimitRefusal)
    error = last.as_error()
    assert isinstance(error, LimitReached)
    assert error.message == (
        "project acme/search: 100000 tokens per minute are used up; the next minute begins in 23 s."
    )
    assert error.retry_after_s == 23


def test_a_request_larger_than_the_limit_is_told_that_waiting_is_in_vain() -> None:
    limit_worker, levels = LimitWorker(), level(tokens_per_minute=100)
    refused = limit_worker.reserve(levels, 101)
    assert isinstance(refused, LimitRefusal)
    assert refused.is_hopeless
    assert refused.as_error().retry_after_s is None
    assert limit_worker.round_trips == 0


def test_a_limit_of_zero_lets_nobody_in() -> None:
    refused = LimitWorker().reserve(level(requests_per_day=0))
    assert isinstance(refused, LimitRefusal)
    assert refused.message == "project acme/search: 0 requests per day are allowed, which is none."


def test_settling_in_a_later_window_corrects_the_window_of_the_reservation() -> None:
    limit_worker, levels = LimitWorker(), level(tokens_per_minute=100, tokens_per_day=1000)
    reserved = limit_worker.reserve(levels, 80)
    assert isinstance(reserved, Reservation)
    limit_worker.pass_time(61)
    limit_worker.book.settle(reserved, 30, 0)
    another = limit_worker.reserve(levels, 100)
    assert isinstance(another, Reservation), "the new minute has nothing of the old one"
    limit_worker.book.settle(another, 100, 0)
    limit_worker.retire()
    assert limit_worker.used("tokens_per_minute") == 30
    assert limit_worker.used("tokens_per_minute", int(NOON_S) + 60) == 100
    assert limit_worker.used("tokens_per_day", int(NOON_S) - 43_200) == 130


def test_most_requests_of_a_busy_worker_ask_nobody() -> None:
    limit_worker, levels = LimitWorker(), level(requests_per_minute=100_000)
    for _ in range(1000):
        assert isinstance(limit_worker.reserve(levels), Reservation)
    assert limit_worker.round_trips <= 12


def test_a_refused_worker_does_not_ask_for_each_request() -> None:
    limit_worker, levels = LimitWorker(), level(requests_per_minute=1)
    for _ in range(100):
        limit_worker.reserve(levels)
    assert limit_worker.round_trips == 1, "the grant of the last one said that nothing was left"


def test_leases_that_nobody_uses_go_back_within_two_ticks() -> None:
    limit_worker, levels = LimitWorker(), level(requests_per_minute=1000, concurrent_requests=100)
    reserved = [limit_worker.reserve(levels) for _ in range(10)]
    assert limit_worker.used("requests_per_minute") > 10
    for each in reserved:
        assert isinstance(each, Reservation)
        limit_worker.book.settle(each, 1, 0)
    limit_worker.pass_time(1.5)
    assert limit_worker.used("requests_per_minute") == 10
    assert limit_worker.used("concurrent_requests", 0) == 0


def test_a_clock_that_was_set_back_holds_up_nothing_that_is_to_be_given_back() -> None:
    limit_worker, levels = LimitWorker(), level(requests_per_day=1000, concurrent_requests=1)
    reserved = limit_worker.reserve(levels)
    assert isinstance(reserved, Reservation)
    assert isinstance(limit_worker.reserve(levels), LimitRefusal)
    limit_worker.pass_time(1.0)
    limit_worker.now_s -= 3600
    limit_worker.book.settle(reserved, 1, 0)
    limit_worker.pass_time(2.0)
    assert limit_worker.used("concurrent_requests", 0) == 0, "an hour is not waited for"
    assert isinstance(limit_worker.reserve(levels), Reservation)


def test_what_one_worker_gives_back_another_gets() -> None:
    one = LimitWorker("one")
    other = LimitWorker("other", one.source)
    levels = level(requests_per_minute=64)
    for _ in range(20):
        one.reserve(levels)
    refused_at = next(number for number in range(100) if isinstance(other.reserve(levels), LimitRefusal))
    assert refused_at < 44
    for _ in range(3):
        one.pass_time(0.5)
        other.pass_time(0.5)
    rest = sum(isinstance(other.reserve(levels), Reservation) for _ in range(100))
    assert refused_at + rest == 44


def test_leases_are_topped_up_between_requests_when_they_are_used() -> None:
    limit_worker, levels = LimitWorker(), level(requests_per_minute=100_000)
    asked = 0
    for _ in range(40):
        for _ in range(50):
            trips = limit_worker.round_trips
            assert isinstance(limit_worker.reserve(levels), Reservation)
            asked += limit_worker.round_trips > trips
        limit_worker.pass_time(0.5)
    assert asked <= 25, "of 2000 requests"


def test_a_lowered_limit_holds_from_the_next_request_on() -> None:
    limit_worker = LimitWorker()
    for _ in range(3):
        assert isinstance(limit_worker.reserve(level(requests_per_minute=10)), Reservation)
    lower = level(requests_per_minute=2)
    limit_worker.pass_time(1)
    assert isinstance(limit_worker.reserve(lower), LimitRefusal)


def test_without_its_source_a_worker_allows_its_part_and_reports_it_later() -> None:
    source = MemoryLeases(clock=lambda: NOON_S)
    one, other = LimitWorker("one", source), LimitWorker("other", source)
    levels = level(requests_per_minute=10)
    for limit_worker in (one, other):
        limit_worker.reserve(level("key:other", requests_per_minute=10))
    one.pass_time(0.5)
    assert one.book.holders == 2

    def alone() -> Reservation | LimitRefusal:
        found = one.book.reserve(levels, 1, 0, one.now_s)
        assert isinstance(found, PendingReservation)
        return one.book.reserve_alone(found, one.now_s)

    answers = [alone() for _ in range(7)]
    assert [type(answer) for answer in answers] == [Reservation] * 5 + [LimitRefusal] * 2
    refused = answers[-1]
    assert isinstance(refused, LimitRefusal)
    assert "each of 2 gateway workers allows its part" in refused.message
    one.pass_time(0.5)
    assert one.used("requests_per_minute") == 5


def test_without_its_source_a_worker_allows_at_least_one_request() -> None:
    limit_worker, levels = LimitWorker(), level(requests_per_minute=1, concurrent_requests=1)
    limit_worker.book.holders = 40
    found = limit_worker.book.reserve(levels, 1, 0, limit_worker.now_s)
    assert isinstance(found, PendingReservation)
    assert isinstance(limit_worker.book.reserve_alone(found, limit_worker.now_s), Reservation)
    assert isinstance(limit_worker.book.reserve_alone(found, limit_worker.now_s), LimitRefusal)


def test_a_lost_answer_that_comes_later_is_given_back() -> None:
    limit_worker, levels = LimitWorker(), level(requests_per_minute=10, concurrent_requests=5)
    found = limit_worker.book.reserve(levels, 1, 0, limit_worker.now_s)
    assert isinstance(found, PendingReservation)
    call = limit_worker.book.compose([found], limit_worker.now_s)
    assert call is not None
    answer = limit_worker.source.exchange_now(call)
    limit_worker.book.failed([found])
    limit_worker.now_s += 60
    assert limit_worker.source.exchange_now(call) == answer
    assert limit_worker.book.answered(call, answer, [], limit_worker.now_s) == []
    limit_worker.pass_time(2)
    assert limit_worker.used("requests_per_minute") == 0
    assert limit_worker.used("concurrent_requests", 0) == 0


def test_a_source_that_lost_its_counters_is_told_what_was_taken() -> None:
    limit_worker, levels = LimitWorker(), level(requests_per_minute=10)
    for _ in range(4):
        limit_worker.reserve(levels)
    limit_worker.source = MemoryLeases(clock=lambda: limit_worker.now_s)
    call = limit_worker.book.heartbeat()
    answer = limit_worker.source.exchange_now(call)
    limit_worker.book.answered(call, type(answer)(epoch="another", holders=1), [], limit_worker.now_s)
    held = limit_worker.book.compose([], limit_worker.now_s)
    assert held is not None
    limit_worker.source.exchange_now(held)
    assert 4 <= limit_worker.used("requests_per_minute") <= 10


def test_old_windows_and_idle_callers_are_forgotten() -> None:
    limit_worker = LimitWorker()
    for number in range(500):
        caller = level(f"key:{number}", requests_per_minute=10, tokens_per_day=10, concurrent_requests=3)
        reserved = limit_worker.reserve(caller)
        assert isinstance(reserved, Reservation)
        limit_worker.book.settle(reserved, 1, 0)
    assert limit_worker.book.snapshot()["pots"] == 1500
    limit_worker.pass_time(300)
    assert limit_worker.book.snapshot() == {"plans": 0, "pots": 0, "past": 0}


def test_more_callers_than_are_kept_push_out_the_oldest() -> None:
    limit_worker = LimitWorker()
    limit_worker.book = LimitBook("a", leased_counters_max=10)
    callers = [level(f"key:{number}", requests_per_minute=2) for number in range(30)]
    for _ in range(3):
        for caller in callers:
            limit_worker.reserve(caller)
    assert limit_worker.book.snapshot()["pots"] == 10
    limit_worker.retire()
    assert all(limit_worker.used("requests_per_minute", level=f"key:{number}") == 2 for number in range(30))


def test_windows_are_those_of_the_clock_on_the_wall_in_utc() -> None:
    calendar = Calendar()
    assert calendar.window(LimitPeriod.MINUTE, NOON_S + 61.5) == (NOON_S + 60, NOON_S + 120)
    assert calendar.window(LimitPeriod.DAY, NOON_S) == (NOON_S - 43_200, NOON_S + 43_200)
    assert calendar.window(LimitPeriod.MONTH, NOON_S) == (1_798_761_600, 1_801_440_000)
    december = calendar.window(LimitPeriod.MONTH, 1_798_761_599.0)
    assert december == (1_796_083_200, 1_798_761_600)
