"""One look, prepared: what was seen, what it means, and what there is."""

from collections.abc import Mapping

from msgspec import Struct

from heterodyne.domain.fleet import PoolName
from heterodyne.planning.scaling.cold_start import ColdStarts
from heterodyne.planning.scaling.hardware_choice import Counts
from heterodyne.planning.scaling.limits import ScalingRules
from heterodyne.planning.scaling.need import Need
from heterodyne.planning.scaling.observation import Observation
from heterodyne.planning.scaling.state import ScalingState


class Situation(Struct, frozen=True, kw_only=True):
    """What both directions are decided by."""

    rules: ScalingRules
    state: ScalingState
    seen: Observation
    need: Need
    provided: Counts  # replicas that are there or coming, to stay
    starts: Mapping[PoolName, ColdStarts]
    lead_s: float  # from asking for a replica to its first request
