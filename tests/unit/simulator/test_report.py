"""Figures of a run that can be checked by hand."""

import pytest

from heterodyne.planning.traffic.trace_request import TraceRequest
from tests.support.simulations import log, pools, simulate

TWO = [
    TraceRequest(at_s=0.0, prompt_tokens=1000, output_tokens=101),
    TraceRequest(at_s=60.0, prompt_tokens=10, output_tokens=1),
]


def test_dollars_are_of_the_whole_fleet_and_of_busy_seconds() -> None:
    got = simulate(pools(replicas=2, price_usd_per_hour=3600.0), TWO)
    assert got.usd == pytest.approx(2 * got.simulated_s)
    assert got.usd_busy is not None
    assert 0.5 < got.usd_busy < 5.0
    assert got.usd_per_million_output_tokens_within_slo == pytest.approx(got.usd / 102 * 1e6)


def test_hosted_tokens_are_paid_by_the_token() -> None:
    hosted = pools(price_usd_per_million_prompt_tokens=1.0, price_usd_per_million_completion_tokens=10.0)
    got = simulate(hosted, TWO)
    assert got.usd == pytest.approx((1010 * 1.0 + 102 * 10.0) / 1e6)


def test_a_single_token_has_no_time_between_tokens_to_miss() -> None:
    got = simulate(pools(), TWO[1:])
    assert (got.itl.max_s, got.attainment_itl) == (0.0, 1.0)


def test_more_traffic_than_the_fleet_bears_misses_the_service_level() -> None:
    quiet, flood = simulate(pools(), log(300, gap_s=0.2)), simulate(pools(hardware="l4", tp=2), log(300, gap_s=0.001))
    assert quiet.attainment == 1.0
    assert flood.attainment < 0.7
    assert flood.ttft.p50_s <= flood.ttft.p90_s <= flood.ttft.p99_s <= flood.ttft.max_s


def test_one_replica_is_as_hot_as_the_mean() -> None:
    got = simulate(pools(), log(50))
    assert got.inside_hottest == got.inside_mean > 0
