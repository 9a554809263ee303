"""What a request is told that comes while nothing is ready: when the first replica will be, and who is before it."""

from msgspec import Struct

from heterodyne.domain.replica_stage import COMING
from heterodyne.planning.scaling.cold_start import ColdStarts
from heterodyne.planning.scaling.observation import PoolObservation


class ToldWait(Struct, frozen=True, kw_only=True):
    """The honest answer."""

    expected_s: float
    late_s: float  # nine of ten are over by then


def told_wait(
    pool: PoolObservation, starts: ColdStarts, now_s: float, *, ahead: int, requests_per_s: float, decides_in_s: float
) -> ToldWait:
    """`ahead` requests are held before this one; a replica, once ready, starts `requests_per_s` of them.

    `decides_in_s` is until the autoscaler looks, where no replica has been asked for yet.
    """
    begun = [one.asked_at_s for one in pool.replicas if one.stage in COMING]
    passed_s = now_s - min(begun) if begun else -decides_in_s
    queue_s = ahead / requests_per_s if requests_per_s > 0 else 0.0
    return ToldWait(
        expected_s=_left(starts.usual_s, starts, passed_s) + queue_s,
        late_s=_left(starts.late_s, starts, passed_s) + queue_s,
    )


def _left(whole_s: float, starts: ColdStarts, passed_s: float) -> float:
    """One that takes longer than usual is compared with those that did, too."""
    if passed_s < whole_s:
        return whole_s - passed_s
    longer = sorted(one - passed_s for one in starts.measured_s if one > passed_s)
    return longer[len(longer) // 2] if longer else 0.1 * whole_s
