"""What the autoscaler counts and shows as metrics."""

from heterodyne.console.scaling.pages import ScalingPage, StepRow
from heterodyne.telemetry import metrics

DONE, NOT_DONE = "done", "not-done"


def count(step: StepRow) -> None:
    """A step was decided."""
    if step.pool is not None:
        outcome = NOT_DONE if step.outcome else DONE
        metrics.scaling_steps.add((step.pool, step.kind.value, step.reason.value, outcome))


def forget(model: str) -> None:
    """It grows and shrinks no more."""
    for gauge in (metrics.scaling_needed, metrics.scaling_carried, metrics.scaling_short):
        gauge.forget((model,))


def note(page: ScalingPage) -> None:
    """How things stand."""
    for model in page.models:
        metrics.scaling_needed.set((model.model,), model.needed)
        metrics.scaling_carried.set((model.model,), model.carried)
        is_short = model.needed > model.carried and not any(pool.warming for pool in model.pools)
        metrics.scaling_short.set((model.model,), float(is_short))
        for pool in model.pools:
            metrics.scaling_wanted.set((pool.pool,), pool.wanted)
            metrics.scaling_cold_start.set((pool.pool,), pool.cold_start_s)
