"""Pure: what one gateway tells the others of itself, so that the autoscaler of one of them can act for all.

A report is the whole truth of its sender and replaces the one before. Demand is told as sums that only grow, so that
nothing is lost or counted twice however many reports get lost. Replicas go by their ids: gateways that scale a pool
together have it from the same cluster.
"""

from math import isfinite

import msgspec
from msgspec import Struct, structs

from heterodyne.console.kv.joined import check_amounts
from heterodyne.console.live.gateway_minute import GatewayMinute
from heterodyne.domain.fleet import PoolName, ReplicaId
from heterodyne.domain.kv_seen import KvSeen
from heterodyne.domain.minute_tally import COUNTS, SPREADS
from heterodyne.gateway.demand_tally import DemandSeen

REPORT_BYTES_MAX = 256 << 10
WORKERS_MAX = 256
MODELS_MAX = 64  # of one worker, that grow and shrink
REPLICAS_MAX = 3000
AMOUNT_MAX = 1e15
NAME_CHARS_MAX = 300

Workers = dict[str, "dict[str, ModelDemand]"]


class ModelDemand(Struct, frozen=True, kw_only=True):
    """Of one model and worker."""

    seen: DemandSeen = DemandSeen()
    in_flight: int = 0

    @property
    def come(self) -> int:
        """All that has ever come, as far as this worker knows."""
        seen = self.seen
        return seen.ended + seen.refused + seen.queued + self.in_flight


class Pause(Struct, frozen=True, kw_only=True):
    """What an operator said last of one model; the later word holds in all gateways."""

    is_paused: bool
    at_s: float  # seconds since the epoch


class GatewayReport(Struct, frozen=True, kw_only=True):
    """The whole of it."""

    gateway: str  # for people: host and port
    term: int | None = None  # of its leadership; None: it does not lead
    workers: Workers = {}  # by worker and process, then by model
    in_flight: dict[ReplicaId, int] = {}
    leaving: tuple[ReplicaId, ...] = ()  # given up by the leader: nobody is to send them anything new
    left: tuple[ReplicaId, ...] = ()  # of those, the ones that this gateway has nothing on any more
    told: dict[PoolName, int] = {}  # by the leader, what other scalers are to be told
    pauses: dict[str, Pause] = {}
    minute: GatewayMinute = GatewayMinute()  # for the consoles of all
    kv: KvSeen | None = None  # for them, too; None: no prompt is looked at
    settings: str = ""  # the version it works by; "": it is of a version of Heterodyne that tells none


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(GatewayReport).decode


def encode(report: GatewayReport) -> bytes:
    """A message of bounded size."""
    workers = {
        worker: dict(list(models.items())[:MODELS_MAX]) for worker, models in list(report.workers.items())[:WORKERS_MAX]
    }
    busiest = sorted(report.in_flight.items(), key=lambda pair: (-pair[1], pair[0]))[:REPLICAS_MAX]
    report = structs.replace(report, workers=workers, in_flight=dict(busiest))
    body = _encode(report)
    # What people look at gives way to what the autoscaler goes by.
    return body if report.kv is None or len(body) <= REPORT_BYTES_MAX else _encode(structs.replace(report, kv=None))


def decode(body: bytes) -> GatewayReport:
    """Raises `ValueError` where it is no report, or one that no gateway would send."""
    if len(body) > REPORT_BYTES_MAX:
        raise ValueError(f"a report of {len(body)} bytes; {REPORT_BYTES_MAX} are the most")
    report = _decode(body)
    if len(report.gateway) > NAME_CHARS_MAX or len(report.settings) > NAME_CHARS_MAX:
        raise ValueError("a name that no gateway has")
    minute = report.minute
    amounts = [
        minute.in_flight,
        minute.queued,
        *report.in_flight.values(),
        *report.told.values(),
        *(one.at_s for one in report.pauses.values()),
    ]
    for sums in (minute.whole, *minute.by_pool.values()):
        amounts += (getattr(sums, name) for name in COUNTS)
        for name in SPREADS:
            amounts += (getattr(sums, name).sum_ms, *getattr(sums, name).counts.values())
    for models in report.workers.values():
        for one in models.values():
            amounts += (one.in_flight, *structs.astuple(one.seen))
    if not (isfinite(sum(amounts)) and min(amounts) >= 0 and max(amounts) <= AMOUNT_MAX):
        raise ValueError("an amount that cannot be")
    if report.kv is not None:
        check_amounts(report.kv)
    return report
