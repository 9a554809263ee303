"""Whatever a provider says of its limits, it is read without a failure and never stops a replica for ever."""

from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.provider_limit import INPUT_TOKENS, OUTPUT_TOKENS, REQUESTS, TOKENS, ProviderLimit, ToldLimits
from heterodyne.engines.told_limits import anthropic_limits, no_limits, openai_limits
from heterodyne.routing.health.rate_limits import HOLD_MAX_S, RateLimits

OPENAI = [
    f"x-ratelimit-{part}-{what}".encode() for part in ("limit", "remaining", "reset") for what in ("requests", "tokens")
]
ANTHROPIC = [
    f"anthropic-ratelimit-{what}-{part}".encode()
    for part in ("limit", "remaining", "reset")
    for what in ("requests", "tokens", "input-tokens", "output-tokens")
]
NAMES = [*OPENAI, *ANTHROPIC, b"retry-after", b"retry-after-ms", b"date"]
VALUES = st.one_of(
    st.binary(max_size=70),
    st.integers(-5, 10**12).map(lambda number: str(number).encode()),
    st.sampled_from([b"6m0s", b"20ms", b"1.5s", b"2026-11-18T01:00:02Z", b"Wed, 18 Nov 2026 01:00:00 GMT"]),
)
SECONDS = st.floats(0.0, 1e9)
LIMITS = st.builds(
    ProviderLimit,
    st.sampled_from([REQUESTS, TOKENS, INPUT_TOKENS, OUTPUT_TOKENS]),
    st.floats(0.0, 1e12),
    st.none() | st.floats(0.0, 1e12),
    st.none() | SECONDS,
)


@given(st.dictionaries(st.sampled_from(NAMES), VALUES))
def test_no_header_is_a_failure(headers: dict[bytes, bytes]) -> None:
    for read in (openai_limits, anthropic_limits, no_limits):
        told = read(headers)
        if told is None:
            continue
        assert isinstance(told, ToldLimits)
        numbers = [told.retry_after_s, *(number for one in told.limits for number in one[1:])]
        assert all(number is None or 0.0 <= number < 1e18 for number in numbers)


@given(st.lists(LIMITS, max_size=6), st.none() | SECONDS, st.integers(0, 5), st.integers(0, 10**7))
def test_a_replica_that_says_nothing_more_is_asked_again(
    limits: list[ProviderLimit], retry_after_s: float | None, starts: int, tokens: int
) -> None:
    rate_limits = RateLimits()
    rate_limits.on_told(limits, 10.0)
    for _ in range(starts):
        rate_limits.on_start(11.0)
    rate_limits.on_refused(retry_after_s, 12.0)
    if rate_limits.is_spent(12.0, tokens):
        assert rate_limits.is_low, "who has to wait has to be looked at"
        assert 0.0 < rate_limits.wait_s <= HOLD_MAX_S
    assert not rate_limits.is_spent(12.0 + HOLD_MAX_S, tokens)


@given(LIMITS, st.floats(0.0, 100.0), st.floats(0.0, 100.0), st.integers(0, 10**6))
def test_waiting_never_makes_the_wait_longer(one: ProviderLimit, at_s: float, later_s: float, tokens: int) -> None:
    rate_limits = RateLimits()
    rate_limits.on_told([one], 0.0)
    rate_limits.is_spent(at_s, tokens)
    before_s = rate_limits.wait_s
    rate_limits.is_spent(at_s + later_s, tokens)
    assert rate_limits.wait_s <= before_s + 1e-6
