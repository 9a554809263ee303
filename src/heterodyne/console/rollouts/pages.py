"""Rollouts as an operator sees them."""

from msgspec import Struct

from heterodyne.console.rollouts.standing import RolloutStanding
from heterodyne.rollout.machine import Rollout


class RolloutPage(Struct, frozen=True, kw_only=True):
    """The latest of each model, or all of one, the latest first."""

    rollouts: tuple[Rollout, ...]
    standings: tuple[RolloutStanding, ...] = ()  # of each, in the same order
