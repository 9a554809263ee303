"""How a simulation drives its fleet."""

from msgspec import Struct

from heterodyne.admission.callers import LOCAL
from heterodyne.admission.settings import AdmissionSettings
from heterodyne.domain.routing_rule import KvStrategy
from heterodyne.domain.tenant import Caller
from heterodyne.physics.serving import Slo
from heterodyne.simulator.batch import SimulatedBatch
from heterodyne.simulator.kv.link_change import LinkChange
from heterodyne.simulator.sharing import Sharing


class SpeedChange(Struct, frozen=True, kw_only=True):
    """A pool becomes slower or faster while it serves, unknown to the router."""

    at_s: float
    pool: str
    slowdown: float  # from then on, of what physics says


class Trial(Struct, frozen=True, kw_only=True):
    """How a fleet is driven."""

    policy: str
    seed: int
    slo: Slo
    gauge_interval_s: float = 0.5  # between two times that the router gets the replicas' gauges
    gauge_turns: int = 4  # a replica's gauges are read every so many times: in between the router gets what they were
    speed_changes: tuple[SpeedChange, ...] = ()  # in the order they come; they wait for the next reading of gauges
    link_changes: tuple[LinkChange, ...] = ()
    kv: KvStrategy = KvStrategy.PREFIX
    keeps_forecasts: bool = False  # in the tally, beside what came of them
    gateways: int = 1  # that requests come to by chance, each with a router of its own
    sharing: Sharing | None = Sharing()  # what several of them tell each other; None: nothing
    admission: AdmissionSettings | None = None  # what waits and is refused before the replicas; None: all start at once
    batch: SimulatedBatch | None = None  # beside the traffic, where there is admission
    callers: tuple[Caller, ...] = (LOCAL,)  # who sends the requests, one after the other, where there is admission
