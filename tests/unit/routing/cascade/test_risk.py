"""The bound holds for what is drawn from the same traffic, however bad the scores are."""

import numpy as np
import pytest

from heterodyne.routing.cascade.risk import BoundKind, RiskBound, RiskThreshold, calibrate, loss_share, threshold_steps

STEPS = tuple(step / 40 for step in range(1, 40))


def population(seed: int, rows: int, *, is_informed: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Risks, cheap and big qualities."""
    draw = np.random.default_rng(seed)
    risks = draw.random(rows)
    wrong = risks if is_informed else np.full(rows, 0.35)
    cheap = (draw.random(rows) > wrong * 0.8).astype(float)
    big = (draw.random(rows) < 0.9).astype(float)
    return risks, cheap, big


def net_loss_share(kept_up_to: float | None, everything: tuple[np.ndarray, np.ndarray, np.ndarray]) -> float:
    risks, cheap, big = everything
    return loss_share(risks <= (-1 if kept_up_to is None else kept_up_to), cheap, big)


@pytest.mark.parametrize("is_informed", [True, False])
def test_a_confident_bound_is_broken_no_more_often_than_promised(is_informed: bool) -> None:
    everything = population(1, 200_000, is_informed=is_informed)
    bound = RiskBound(loss_share_max=0.05, confidence=0.9)
    draw = np.random.default_rng(2)
    broken, kept = 0, []
    for _ in range(200):
        taken = draw.integers(0, 200_000, 600)
        chosen = calibrate(*(values[taken] for values in everything), bound, STEPS)
        broken += net_loss_share(chosen.threshold, everything) > 0.05
        kept.append(chosen.kept_share)
    assert broken <= 200 * 0.1
    assert np.mean(kept) > (0.2 if is_informed else 0.02)


def test_a_bound_on_average_holds_on_average() -> None:
    everything = population(3, 200_000)
    bound = RiskBound(loss_share_max=0.05, kind=BoundKind.ON_AVERAGE)
    draw = np.random.default_rng(4)
    losses = []
    for _ in range(200):
        taken = draw.integers(0, 200_000, 300)
        losses.append(net_loss_share(calibrate(*(x[taken] for x in everything), bound, STEPS).threshold, everything))
    assert np.mean(losses) <= 0.05


def test_more_rows_and_looser_bounds_keep_more() -> None:
    risks, cheap, big = population(5, 4000)

    def kept(rows: int, loss: float, confidence: float = 0.9) -> float:
        bound = RiskBound(loss_share_max=loss, confidence=confidence)
        return calibrate(risks[:rows], cheap[:rows], big[:rows], bound, STEPS).kept_share

    assert kept(400, 0.05) < kept(4000, 0.05) < kept(4000, 0.15)
    assert kept(4000, 0.05, 0.999) <= kept(4000, 0.05, 0.6)


def test_too_few_rows_and_a_hopeless_model_keep_nothing() -> None:
    risks, cheap, big = population(6, 20)
    few = calibrate(risks, cheap, big, RiskBound(loss_share_max=0.5), STEPS)
    assert few == RiskThreshold(threshold=None, rows=20, kept_share=0.0, loss_share=0.0)
    assert not few.keeps(0.0)
    hopeless = calibrate(np.full(500, 0.01), np.zeros(500), np.ones(500), RiskBound(), STEPS)
    assert hopeless.threshold is None
    assert calibrate(np.array([]), np.array([]), np.array([]), RiskBound(), ()).threshold is None


def test_where_both_models_are_always_right_everything_is_kept() -> None:
    for kind in BoundKind:
        chosen = calibrate(
            np.linspace(0, 0.9, 1000), np.ones(1000), np.ones(1000), RiskBound(loss_share_max=0.02, kind=kind), STEPS
        )
        assert chosen.threshold == STEPS[-1]
        assert chosen.kept_share == 1.0


def test_what_the_cheap_model_wins_counts_for_a_confident_bound_alone() -> None:
    rows = 2000
    cheap, big = np.tile([1.0, 0.0], rows // 2), np.tile([0.0, 1.0], rows // 2)
    risks = np.full(rows, 0.2)
    assert calibrate(risks, cheap, big, RiskBound(loss_share_max=0.2), (0.5,)).threshold == 0.5
    on_average = RiskBound(loss_share_max=0.2, kind=BoundKind.ON_AVERAGE)
    assert calibrate(risks, cheap, big, on_average, (0.5,)).threshold is None


def test_steps_leave_out_what_is_never_kept() -> None:
    assert threshold_steps(np.array([1.0, 1.0])) == ()
    assert max(threshold_steps(np.array([0.2, 0.4, 1.0]))) == 0.4
