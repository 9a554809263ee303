"""What an answer says about limits."""

from heterodyne.admission.limits.calendar import Calendar
from heterodyne.admission.limits.headers import rate_headers
from heterodyne.admission.limits.leased_counter import MEASURES, LeasedCounter

NOW_S = 1_800_014_422.5


def leased_counter(limit_name: str, limit: int, *, left: int, free: int = 0) -> LeasedCounter:
    made = LeasedCounter("key:k", limit_name, limit, Calendar().window(MEASURES[limit_name][1], NOW_S))
    made.left, made.free = left, free
    return made


def test_headers_have_openais_names_and_count_the_leases_at_hand() -> None:
    leased_counters = (
        leased_counter("requests_per_minute", 60, left=10, free=5),
        leased_counter("tokens_per_minute", 1000, left=0, free=0),
    )
    assert rate_headers(leased_counters, NOW_S) == (
        b"x-ratelimit-limit-requests: 60\r\n"
        b"x-ratelimit-remaining-requests: 15\r\n"
        b"x-ratelimit-reset-requests: 38s\r\n"
        b"x-ratelimit-limit-tokens: 1000\r\n"
        b"x-ratelimit-remaining-tokens: 0\r\n"
        b"x-ratelimit-reset-tokens: 38s\r\n"
    )


def test_the_tightest_limit_is_the_one_that_is_told() -> None:
    leased_counters = (
        leased_counter("requests_per_minute", 60, left=50),
        leased_counter("requests_per_day", 100, left=-3),
    )
    assert rate_headers(leased_counters, NOW_S) == (
        b"x-ratelimit-limit-requests: 100\r\n"
        b"x-ratelimit-remaining-requests: 0\r\n"
        b"x-ratelimit-reset-requests: 43178s\r\n"
    )


def test_other_limits_have_no_headers() -> None:
    assert (
        rate_headers(
            (leased_counter("concurrent_requests", 4, left=4), leased_counter("usd_per_day", 4, left=4)), NOW_S
        )
        == b""
    )
