"""Rollouts as an operator sees them."""

from msgspec import Struct

from heterodyne.rollout.machine import Rollout


class RolloutPage(Struct, frozen=True, kw_only=True):
    """The latest of each model, or all of one, the latest first."""

    rollouts: tuple[Rollout, ...]
