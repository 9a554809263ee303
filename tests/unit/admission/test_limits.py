"""One worker's account of limits, with counters in memory and a clock that stands still."""

from heterodyne.admission.limits.book import LimitBook, Reservation, Wanting
from heterodyne.admission.limits.calendar import Calendar, Span
from heterodyne.admission.limits.refusal import Refused
from heterodyne.domain.errors import BudgetSpent, LimitReached
from heterodyne.domain.tenant import Level, Limits
from heterodyne.stores.memory_leases import MemoryLeases

NOON_S = 1_800_014_400.0  # Friday 15 January 2027 12:00:00 UTC
NAME = "project:acme/search"


class Desk:
    """A book and its source, with nothing but function calls between them."""

    def __init__(self, name: str = "a", source: MemoryLeases | None = None) -> None:
        self.now_s = NOON_S
        self.source = source or MemoryLeases(clock=lambda: self.now_s)
        self.book = LimitBook(name)
        self.round_trips = 0

    def reserve(self, levels: tuple[Level, ...], tokens: int = 1, micro_usd: int = 0) -> Reservation | Refused:
        found = self.book.reserve(levels, tokens, micro_usd, self.now_s)
        if isinstance(found, Wanting):
            found = self.exchange([found])[0]
        assert not isinstance(found, Wanting)
        return found

    def exchange(self, waiting: list[Wanting]) -> list[Reservation | Refused | Wanting]:
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
    desk, levels = Desk(), level(requests_per_minute=5)
    answers = [desk.reserve(levels) for _ in range(7)]
    assert [type(answer) for answer in answers] == [Reservation] * 5 + [Refused] * 2


def test_the_next_minute_begins_afresh() -> None:
    desk, levels = Desk(), level(requests_per_minute=1)
    assert isinstance(desk.reserve(levels), Reservation)
    desk.now_s += 59.9
    assert isinstance(desk.reserve(levels), Refused)
    desk.now_s += 0.1
    assert isinstance(desk.reserve(levels), Reservation)


def test_what_was_not_used_comes_back_and_what_was_used_beyond_is_counted() -> None:
    desk, levels = Desk(), level(tokens_per_minute=100)
    first = desk.reserve(levels, 80)
    assert isinstance(first, Reservation)
    assert isinstance(desk.reserve(levels, 30), Refused)
    desk.book.settle(first, 50, 0)
    second = desk.reserve(levels, 30)
    assert isinstance(second, Reservation)
    desk.book.settle(second, 70, 0)
    assert isinstance(desk.reserve(levels, 1), Refused)
    desk.retire()
    assert desk.used("tokens_per_minute") == 120


def test_one_after_the_other_never_exceeds_the_limit_by_more_than_one_estimates_error() -> None:
    desk, levels = Desk(), level(tokens_per_minute=1000)
    used = 0
    while isinstance(reserved := desk.reserve(levels, 30), Reservation):
        desk.book.settle(reserved, 47, 0)
        used += 47
    assert 1000 - 30 < used <= 1000 + 17
    desk.retire()
    assert desk.used("tokens_per_minute") == used


def test_a_request_that_never_ran_does_not_count_at_all() -> None:
    desk, levels = Desk(), level(requests_per_minute=1, tokens_per_minute=10, concurrent_requests=1, usd_per_day=1)
    for _ in range(3):
        reserved = desk.reserve(levels, 10, 1_000_000)
        assert isinstance(reserved, Reservation)
        desk.book.release(reserved)
        desk.book.release(reserved)
    desk.retire()
    assert desk.used("requests_per_minute") == desk.used("tokens_per_minute") == 0


def test_all_levels_pass_or_none_is_touched() -> None:
    key = level("key:k", requests_per_minute=10)
    levels = key + level(tokens_per_minute=5) + level("organisation:acme", requests_per_minute=10)
    desk = Desk()
    refused = [desk.reserve(levels, 6), desk.reserve(levels, 4), desk.reserve(levels, 4)]
    assert [type(answer) for answer in refused] == [Refused, Reservation, Refused]
    desk.retire()
    assert desk.used("requests_per_minute", level="key:k") == 1
    assert desk.used("requests_per_minute", level="organisation:acme") == 1


def test_places_of_requests_that_have_ended_are_free_again() -> None:
    desk, levels = Desk(), level(concurrent_requests=2)
    first, second = desk.reserve(levels), desk.reserve(levels)
    assert isinstance(first, Reservation)
    assert isinstance(second, Reservation)
    refused = desk.reserve(levels)
    assert isinstance(refused, Refused)
    assert (
        refused.message == "project acme/search: 2 requests may run at once, and they do; try again when one has ended."
    )
    assert refused.retry_after_s == 1
    desk.book.settle(first, 5, 0)
    assert isinstance(desk.reserve(levels), Reservation)
    assert desk.used("concurrent_requests", 0) == 2


def test_dollars_of_an_unknown_price_are_refused_once_they_are_spent() -> None:
    desk, levels = Desk(), level(usd_per_day=0.01)
    first = desk.reserve(levels, 10, 0)
    assert isinstance(first, Reservation)
    desk.book.settle(first, 10, 25_000)
    refused = desk.reserve(levels, 10, 0)
    assert isinstance(refused, Refused)
    assert isinstance(refused.as_error(), BudgetSpent)
    assert refused.message == "project acme/search: $0.01 per day are used up; the next day begins in 12 h."
    assert refused.retry_after_s == 43_200


def test_a_refusal_says_which_limit_what_is_left_and_when_to_come_back() -> None:
    desk, levels = Desk(), level(tokens_per_minute=100_000)
    desk.now_s += 37
    assert isinstance(desk.reserve(levels, 99_000), Reservation)
    refused = desk.reserve(levels, 5000)
    assert isinstance(refused, Refused)
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
    assert isinstance(desk.reserve(levels, 1000), Reservation)
    last = desk.reserve(levels, 1)
    assert isinstance(last, Refused)
    error = last.as_error()
    assert isinstance(error, LimitReached)
    assert error.message == (
        "project acme/search: 100000 tokens per minute are used up; the next minute begins in 23 s."
    )
    assert error.retry_after_s == 23


def test_a_request_larger_than_the_limit_is_told_that_waiting_is_in_vain() -> None:
    desk, levels = Desk(), level(tokens_per_minute=100)
    refused = desk.reserve(levels, 101)
    assert isinstance(refused, Refused)
    assert refused.is_hopeless
    assert refused.as_error().retry_after_s is None
    assert desk.round_trips == 0


def test_a_limit_of_zero_lets_nobody_in() -> None:
    refused = Desk().reserve(level(requests_per_day=0))
    assert isinstance(refused, Refused)
    assert refused.message == "project acme/search: 0 requests per day are allowed, which is none."


def test_settling_in_a_later_window_corrects_the_window_of_the_reservation() -> None:
    desk, levels = Desk(), level(tokens_per_minute=100, tokens_per_day=1000)
    reserved = desk.reserve(levels, 80)
    assert isinstance(reserved, Reservation)
    desk.pass_time(61)
    desk.book.settle(reserved, 30, 0)
    another = desk.reserve(levels, 100)
    assert isinstance(another, Reservation), "the new minute has nothing of the old one"
    desk.book.settle(another, 100, 0)
    desk.retire()
    assert desk.used("tokens_per_minute") == 30
    assert desk.used("tokens_per_minute", int(NOON_S) + 60) == 100
    assert desk.used("tokens_per_day", int(NOON_S) - 43_200) == 130


def test_most_requests_of_a_busy_worker_ask_nobody() -> None:
    desk, levels = Desk(), level(requests_per_minute=100_000)
    for _ in range(1000):
        assert isinstance(desk.reserve(levels), Reservation)
    assert desk.round_trips <= 12


def test_a_refused_worker_does_not_ask_for_each_request() -> None:
    desk, levels = Desk(), level(requests_per_minute=1)
    for _ in range(100):
        desk.reserve(levels)
    assert desk.round_trips == 1, "the grant of the last one said that nothing was left"


def test_leases_that_nobody_uses_go_back_within_two_ticks() -> None:
    desk, levels = Desk(), level(requests_per_minute=1000, concurrent_requests=100)
    reserved = [desk.reserve(levels) for _ in range(10)]
    assert desk.used("requests_per_minute") > 10
    for each in reserved:
        assert isinstance(each, Reservation)
        desk.book.settle(each, 1, 0)
    desk.pass_time(1.5)
    assert desk.used("requests_per_minute") == 10
    assert desk.used("concurrent_requests", 0) == 0


def test_a_clock_that_was_set_back_holds_up_nothing_that_is_to_be_given_back() -> None:
    desk, levels = Desk(), level(requests_per_day=1000, concurrent_requests=1)
    reserved = desk.reserve(levels)
    assert isinstance(reserved, Reservation)
    assert isinstance(desk.reserve(levels), Refused)
    desk.pass_time(1.0)
    desk.now_s -= 3600
    desk.book.settle(reserved, 1, 0)
    desk.pass_time(2.0)
    assert desk.used("concurrent_requests", 0) == 0, "an hour is not waited for"
    assert isinstance(desk.reserve(levels), Reservation)


def test_what_one_worker_gives_back_another_gets() -> None:
    one = Desk("one")
    other = Desk("other", one.source)
    levels = level(requests_per_minute=64)
    for _ in range(20):
        one.reserve(levels)
    refused_at = next(number for number in range(100) if isinstance(other.reserve(levels), Refused))
    assert refused_at < 44
    for _ in range(3):
        one.pass_time(0.5)
        other.pass_time(0.5)
    rest = sum(isinstance(other.reserve(levels), Reservation) for _ in range(100))
    assert refused_at + rest == 44


def test_leases_are_topped_up_between_requests_when_they_are_used() -> None:
    desk, levels = Desk(), level(requests_per_minute=100_000)
    asked = 0
    for _ in range(40):
        for _ in range(50):
            trips = desk.round_trips
            assert isinstance(desk.reserve(levels), Reservation)
            asked += desk.round_trips > trips
        desk.pass_time(0.5)
    assert asked <= 25, "of 2000 requests"


def test_a_lowered_limit_holds_from_the_next_request_on() -> None:
    desk = Desk()
    for _ in range(3):
        assert isinstance(desk.reserve(level(requests_per_minute=10)), Reservation)
    lower = level(requests_per_minute=2)
    desk.pass_time(1)
    assert isinstance(desk.reserve(lower), Refused)


def test_without_its_source_a_worker_allows_its_part_and_reports_it_later() -> None:
    source = MemoryLeases(clock=lambda: NOON_S)
    one, other = Desk("one", source), Desk("other", source)
    levels = level(requests_per_minute=10)
    for desk in (one, other):
        desk.reserve(level("key:other", requests_per_minute=10))
    one.pass_time(0.5)
    assert one.book.holders == 2

    def alone() -> Reservation | Refused:
        found = one.book.reserve(levels, 1, 0, one.now_s)
        assert isinstance(found, Wanting)
        return one.book.reserve_alone(found, one.now_s)

    answers = [alone() for _ in range(7)]
    assert [type(answer) for answer in answers] == [Reservation] * 5 + [Refused] * 2
    refused = answers[-1]
    assert isinstance(refused, Refused)
    assert "each of 2 gateway workers allows its part" in refused.message
    one.pass_time(0.5)
    assert one.used("requests_per_minute") == 5


def test_without_its_source_a_worker_allows_at_least_one_request() -> None:
    desk, levels = Desk(), level(requests_per_minute=1, concurrent_requests=1)
    desk.book.holders = 40
    found = desk.book.reserve(levels, 1, 0, desk.now_s)
    assert isinstance(found, Wanting)
    assert isinstance(desk.book.reserve_alone(found, desk.now_s), Reservation)
    assert isinstance(desk.book.reserve_alone(found, desk.now_s), Refused)


def test_a_lost_answer_that_comes_later_is_given_back() -> None:
    desk, levels = Desk(), level(requests_per_minute=10, concurrent_requests=5)
    found = desk.book.reserve(levels, 1, 0, desk.now_s)
    assert isinstance(found, Wanting)
    call = desk.book.compose([found], desk.now_s)
    assert call is not None
    answer = desk.source.exchange_now(call)
    desk.book.failed([found])
    desk.now_s += 60
    assert desk.source.exchange_now(call) == answer
    assert desk.book.answered(call, answer, [], desk.now_s) == []
    desk.pass_time(2)
    assert desk.used("requests_per_minute") == 0
    assert desk.used("concurrent_requests", 0) == 0


def test_a_source_that_lost_its_counters_is_told_what_was_taken() -> None:
    desk, levels = Desk(), level(requests_per_minute=10)
    for _ in range(4):
        desk.reserve(levels)
    desk.source = MemoryLeases(clock=lambda: desk.now_s)
    call = desk.book.heartbeat()
    answer = desk.source.exchange_now(call)
    desk.book.answered(call, type(answer)(epoch="another", holders=1), [], desk.now_s)
    held = desk.book.compose([], desk.now_s)
    assert held is not None
    desk.source.exchange_now(held)
    assert 4 <= desk.used("requests_per_minute") <= 10


def test_old_windows_and_idle_callers_are_forgotten() -> None:
    desk = Desk()
    for number in range(500):
        caller = level(f"key:{number}", requests_per_minute=10, tokens_per_day=10, concurrent_requests=3)
        reserved = desk.reserve(caller)
        assert isinstance(reserved, Reservation)
        desk.book.settle(reserved, 1, 0)
    assert desk.book.snapshot()["pots"] == 1500
    desk.pass_time(300)
    assert desk.book.snapshot() == {"plans": 0, "pots": 0, "past": 0}


def test_more_callers_than_are_kept_push_out_the_oldest() -> None:
    desk = Desk()
    desk.book = LimitBook("a", pots_max=10)
    callers = [level(f"key:{number}", requests_per_minute=2) for number in range(30)]
    for _ in range(3):
        for caller in callers:
            desk.reserve(caller)
    assert desk.book.snapshot()["pots"] == 10
    desk.retire()
    assert all(desk.used("requests_per_minute", level=f"key:{number}") == 2 for number in range(30))


def test_windows_are_those_of_the_clock_on_the_wall_in_utc() -> None:
    calendar = Calendar()
    assert calendar.window(Span.MINUTE, NOON_S + 61.5) == (NOON_S + 60, NOON_S + 120)
    assert calendar.window(Span.DAY, NOON_S) == (NOON_S - 43_200, NOON_S + 43_200)
    assert calendar.window(Span.MONTH, NOON_S) == (1_798_761_600, 1_801_440_000)
    december = calendar.window(Span.MONTH, 1_798_761_599.0)
    assert december == (1_796_083_200, 1_798_761_600)
