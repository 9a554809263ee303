"""What a log says about traffic."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.errors import InvalidSpec
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.planning.traffic.traffic_profile import traffic_profile


def arrival(
    at_s: float, *, duration_s: float | None = 1.0, prompt: int = 10, cached: int | None = None
) -> TraceRequest:
    return TraceRequest(at_s=at_s, prompt_tokens=prompt, output_tokens=5, cached_tokens=cached, duration_s=duration_s)


def test_a_metronome_has_no_bursts() -> None:
    profile = traffic_profile([arrival(float(second)) for second in range(121)])
    assert profile.burstiness == pytest.approx(0.0)
    assert profile.requests_per_s == pytest.approx(121 / 120)
    assert profile.peak_requests_per_s == pytest.approx(1.0)
    assert profile.concurrency_peak == 1


def test_a_burst_shows_in_the_busiest_minute_and_at_once() -> None:
    profile = traffic_profile([arrival(0.0), *(arrival(1000.0 + index / 100) for index in range(60)), arrival(2000.0)])
    assert profile.peak_requests_per_s == pytest.approx(1.0)
    assert profile.concurrency_peak == 60
    assert profile.burstiness > 3


def test_without_durations_the_number_at_once_is_unknown() -> None:
    assert traffic_profile([arrival(0.0, duration_s=None), arrival(1.0)]).concurrency_peak is None


def test_a_time_per_token_stands_in_for_durations() -> None:
    log = [arrival(0.0, duration_s=None), arrival(1.0, duration_s=None), arrival(30.0, duration_s=None)]
    assert traffic_profile(log, s_per_output_token=0.1).concurrency_peak == 1
    assert traffic_profile(log, s_per_output_token=0.5).concurrency_peak == 2
    with pytest.raises(InvalidSpec, match="s_per_output_token: -1"):
        traffic_profile(log, s_per_output_token=-1.0)


def test_a_log_of_less_than_a_minute_is_its_own_peak() -> None:
    profile = traffic_profile([arrival(0.0), arrival(1.0), arrival(2.0)])
    assert profile.peak_requests_per_s == profile.requests_per_s


def test_without_counts_and_hashes_what_is_shared_is_unknown() -> None:
    profile = traffic_profile([arrival(0.0), arrival(1.0)])
    assert profile.cached_share is None
    assert profile.shared_prefix is None


def test_the_cached_share_counts_tokens_and_not_requests() -> None:
    assert traffic_profile([arrival(0.0, prompt=90), arrival(1.0, prompt=10, cached=10)]).cached_share == 0.1


def test_hours_are_those_of_the_day() -> None:
    profile = traffic_profile([arrival(3600.0 * 5), arrival(3600.0 * 29), arrival(3600.0 * 30)])
    assert profile.hourly_share[5] == pytest.approx(2 / 3)
    assert profile.hourly_share[6] == pytest.approx(1 / 3)


@pytest.mark.parametrize("log", [[], [arrival(0.0)], [arrival(1.0), arrival(1.0)]])
def test_a_log_too_small_to_say_anything_is_refused(log: list[TraceRequest]) -> None:
    with pytest.raises(InvalidSpec):
        traffic_profile(log)


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=50, unique=True))
def test_the_order_of_the_log_does_not_matter(moments: list[float]) -> None:
    log = [arrival(moment) for moment in moments]
    assert traffic_profile(log) == traffic_profile(list(reversed(log)))
