"""What the autoscaler counts and shows as metrics."""

from collections.abc import Iterable

from heterodyne.console.scaling.pages import ScalingPage, StepRow
from heterodyne.domain.fleet import PoolName
from heterodyne.telemetry import metrics

OF_MODELS = (
    *(metrics.scaling_needed, metrics.scaling_carried, metrics.scaling_short),
    *(metrics.scaling_most, metrics.scaling_paused),
)
OF_POOLS = (metrics.scaling_wanted, metrics.scaling_cold_start, metrics.scaling_driver_away)
DONE, NOT_DONE = "done", "not-done"


def count(step: StepRow) -> None:
    """A step was decided."""
    if step.pool is not None:
        outcome = NOT_DONE if step.outcome else DONE
        metrics.scaling_steps.add((step.pool, step.kind.value, step.reason.value, outcome))


def forget(model: str, pools: Iterable[PoolName]) -> None:
    """It grows and shrinks no more."""
    for gauge in OF_MODELS:
        gauge.forget((model,))
    for pool in pools:
        for gauge in OF_POOLS:
            gauge.forget((pool,))


def note(page: ScalingPage) -> None:
    """How things stand."""
    for model in page.models:
        metrics.scaling_needed.set((model.model,), model.needed)
        metrics.scaling_carried.set((model.model,), model.carried)
        metrics.scaling_short.set((model.model,), float(model.short is not None))
        metrics.scaling_most.set((model.model,), model.most)
        metrics.scaling_paused.set((model.model,), float(model.is_paused))
        for pool in model.pools:
            metrics.scaling_wanted.set((pool.pool,), pool.wanted)
            metrics.scaling_cold_start.set((pool.pool,), pool.cold_start_s)
            metrics.scaling_driver_away.set((pool.pool,), pool.away_s or 0.0)
