"""Rollouts as metrics."""

from heterodyne.rollout.machine import Rollout, share_of
from heterodyne.telemetry import metrics


def note(rollout: Rollout) -> None:
    """Where it stands."""
    for stage in rollout.plan.stages:
        metrics.rollout_stage.forget((rollout.model, stage.name))
    if not rollout.is_ended:
        metrics.rollout_stage.set((rollout.model, rollout.stage.name), 1.0)
    metrics.rollout_share.set((rollout.model,), share_of(rollout))


def note_end(rollout: Rollout) -> None:
    """It has ended, by what this gateway did."""
    metrics.rollouts_ended.add((rollout.model, str(rollout.status)))
