"""Pure: the stages of a rollout."""

from enum import StrEnum

from msgspec import Struct


class StageKind(StrEnum):
    """What happens in a stage."""

    SMOKE = "smoke"  # a few requests of our own: it answers at all
    GOLDEN = "golden"  # questions whose answers are known
    PARITY = "parity"  # against its canonical parent
    SHADOW = "shadow"  # copies of users' requests, whose answers nobody gets
    CANARY = "canary"  # a share of users
    FULL = "full"  # all of them


class Stage(Struct, frozen=True, kw_only=True):
    """One."""

    kind: StageKind
    share: float = 0.0  # of conversations that the candidate gets
    strictness: float = 1.0  # by how much less is tolerated than in the first stage of a canary
    copies: int = 0  # that have to be compared

    @property
    def name(self) -> str:
        """As people read it."""
        return (
            f"{self.kind} {100 * self.share:g} %" if self.share and self.kind is not StageKind.FULL else str(self.kind)
        )


class RolloutPlan(Struct, frozen=True, kw_only=True):
    """In this order. The more users a stage has, the more has to be known before it."""

    stages: tuple[Stage, ...] = (
        Stage(kind=StageKind.SMOKE),
        Stage(kind=StageKind.PARITY),
        Stage(kind=StageKind.CANARY, share=0.01),
        Stage(kind=StageKind.CANARY, share=0.05, strictness=1.5),
        Stage(kind=StageKind.CANARY, share=0.25, strictness=2.0),
        Stage(kind=StageKind.CANARY, share=0.5, strictness=2.5),
        Stage(kind=StageKind.FULL, share=1.0),
    )

    def with_golden(self) -> "RolloutPlan":
        """The same, with questions whose answers are known once it answers at all."""
        smoke = next(number for number, stage in enumerate(self.stages) if stage.kind is StageKind.SMOKE) + 1
        return RolloutPlan(stages=(*self.stages[:smoke], Stage(kind=StageKind.GOLDEN), *self.stages[smoke:]))

    def with_shadow(self, copies: int) -> "RolloutPlan":
        """The same, with so many copies compared before the first user; 0: as it is."""
        if not copies:
            return self
        first = next(number for number, stage in enumerate(self.stages) if stage.share)
        shadow = Stage(kind=StageKind.SHADOW, copies=copies)
        return RolloutPlan(stages=(*self.stages[:first], shadow, *self.stages[first:]))
