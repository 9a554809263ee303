"""The autoscaler that serves, behind the simulator's protocol: it remembers, and keeps what it decided."""

from collections.abc import Sequence

from heterodyne.planning.scaling.action import ActionKind, ScalingAction
from heterodyne.planning.scaling.autoscaler import ScalingDecision, scale
from heterodyne.planning.scaling.first_start import first_start
from heterodyne.planning.scaling.limits import ScalingRules
from heterodyne.planning.scaling.observation import Observation
from heterodyne.planning.scaling.state import ScalingState


class OwnScaler:
    """One per run."""

    def __init__(self, rules: ScalingRules, state: ScalingState | None = None) -> None:
        self.rules = rules
        self.state = state or ScalingState()
        self.steps: list[ScalingDecision] = []  # those that changed something

    def look(self, seen: Observation) -> Sequence[ScalingAction]:
        """Decide."""
        decision = scale(self.rules, self.state, seen)
        self.state = decision.state
        if any(one.kind is not ActionKind.HOLD for one in decision.actions):
            self.steps.append(decision)
        return decision.actions

    def told_wait_s(self, seen: Observation) -> float:
        """By the pool that is ready first."""
        return first_start(self.rules, self.state, seen, seen.at_s).wait_s(seen.at_s)
