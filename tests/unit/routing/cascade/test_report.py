"""Quality, dollars and milliseconds of each way to choose, counted by hand."""

import pytest

from heterodyne.routing.cascade.observed_row import ObservedAnswer, ObservedRow
from heterodyne.routing.cascade.report import CascadeOutcome, outcomes


def row(small: float, large: float, small_ms: float | None = 100) -> ObservedRow:
    return ObservedRow(
        prompt="?",
        models={
            "small": ObservedAnswer(quality=small, usd=1, ms=small_ms),
            "large": ObservedAnswer(quality=large, usd=10, ms=1000),
        },
        judge_usd=0.5,
        judge_ms=10,
    )


ROWS = [row(1, 1), row(0, 1), row(1, 0), row(0, 0)]


def by_name(found: list[CascadeOutcome]) -> dict[str, CascadeOutcome]:
    return {one.name: one for one in found}


def test_each_way_is_counted_as_it_would_be_billed() -> None:
    found = by_name(
        outcomes(ROWS, "small", "large", routed=[True, False, False, True], judged=[True, False, True, False])
    )
    assert (found["always_big"].quality, found["always_big"].usd_per_request) == (0.5, 10)
    assert (found["always_cheap"].usd_share, found["always_cheap"].quality_kept) == (0.1, 1.0)
    assert (found["router"].quality, found["router"].usd_per_request, found["router"].both_call_share) == (0.5, 5.5, 0)
    cascade = found["cascade"]
    assert (cascade.quality, cascade.quality_kept) == (0.75, 1.5)
    assert cascade.usd_per_request == pytest.approx((4 * 1.5 + 2 * 10) / 4)
    assert (cascade.big_call_share, cascade.both_call_share) == (0.5, 0.5)
    assert cascade.ms_mean == pytest.approx(110 + 500)
    assert cascade.ms_p95 == 1110
    assert (found["clairvoyant"].quality, found["clairvoyant"].usd_per_request) == (0.75, 13 / 4)


def test_without_judges_there_is_no_cascade_and_without_times_no_milliseconds() -> None:
    found = by_name(outcomes([*ROWS, row(1, 1, None)], "small", "large", routed=[True] * 5, judged=None))
    assert "cascade" not in found
    assert found["router"].ms_mean is None
    assert found["always_big"].ms_mean == 1000
