"""Pure: which replicas of both sides a canary compares, so that both have the same load.

A candidate that gets a hundredth of the requests is idle beside a baseline that gets the rest, and looks faster than it
is; on one replica where its share is for three, slower. So it uses as many of its replicas as its share needs, and as
many of the baseline's are set apart as a control group, which gets the same share. What either takes is then the
version's doing alone.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from heterodyne.domain.fleet import Replica

BASELINE_MIN: Final = 4  # replicas: of fewer, one set apart would leave too much to the others


class TrialGroups(Struct, frozen=True):
    """Ids of replicas; none: all of a side."""

    candidate: tuple[str, ...] = ()
    control: tuple[str, ...] = ()


NO_GROUPS: Final = TrialGroups()


def trial_groups(share: float, candidate: Sequence[Replica], baseline: Sequence[Replica]) -> TrialGroups:
    """Of the replicas of both sides that are ready. No groups where the baseline can spare none, where the candidate
    has too few for its share, and from half of the conversations on, where both sides as a whole are alike."""
    if not 0.0 < share < 0.5 or len(baseline) < BASELINE_MIN:
        return NO_GROUPS
    needed = max(1, round(share / (1.0 - share) * len(baseline)))
    if needed > len(candidate) or needed >= len(baseline):
        return NO_GROUPS
    hardware = {one.hardware for one in candidate}
    # The candidate's own hardware first: another machine is not another version.
    control = sorted(baseline, key=lambda one: (one.hardware not in hardware, one.id))[:needed]
    return TrialGroups(
        candidate=tuple(sorted(one.id for one in candidate)[:needed]), control=tuple(one.id for one in control)
    )
