"""Pure: what was seen of both sides of a rollout, by users and in copies."""

from msgspec import Struct

from heterodyne.rollout.evidence import Evidence
from heterodyne.rollout.shadow import NO_COPIES, ShadowSeen


class ArmsSeen(Struct, frozen=True):
    """Of both versions, over the same time."""

    candidate: Evidence = Evidence()
    baseline: Evidence = Evidence()
    shadow: ShadowSeen = NO_COPIES

    def plus(self, other: "ArmsSeen") -> "ArmsSeen":
        return ArmsSeen(
            self.candidate.plus(other.candidate), self.baseline.plus(other.baseline), self.shadow.plus(other.shadow)
        )

    def minus(self, before: "ArmsSeen") -> "ArmsSeen":
        """What has come since."""
        return ArmsSeen(
            self.candidate.minus(before.candidate),
            self.baseline.minus(before.baseline),
            self.shadow.minus(before.shadow),
        )


NOTHING_SEEN = ArmsSeen()
