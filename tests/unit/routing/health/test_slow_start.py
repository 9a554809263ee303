"""How fast a replica that has come back gets its work back."""

import pytest

from heterodyne.routing.health.replica_health import slow_start_weight


@pytest.mark.parametrize(("after_s", "weight"), [(0.0, 0.1), (1.0, 0.1), (15.0, 0.5), (30.0, 1.0), (1e6, 1.0)])
def test_the_weight_grows_in_a_straight_line(after_s: float, weight: float) -> None:
    assert slow_start_weight(100.0, 100.0 + after_s, window_s=30.0, share_min=0.1) == pytest.approx(weight)
