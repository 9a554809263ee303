"""What the supervisor knows of the fleet as metrics: who is there, what it costs, its devices, and the fullest limits.

Pure: pages and readings come in, samples come out.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from heterodyne.console.fleet.pages import FleetPage, ReplicaCondition
from heterodyne.console.tenants_now.pages import LimitUse
from heterodyne.control.accelerator_watch import AcceleratorsSeen, DeviceSeen
from heterodyne.control.drift_watch import DriftSeen
from heterodyne.fleet.settings import PoolSettings
from heterodyne.telemetry import metrics
from heterodyne.telemetry.meters import Meter, Sample

LIMITS_MAX = 50  # the limits of however many tenants: the most used alone have a line
HOUR_S = 3600.0
MILLION = 1e6


class TokenCost(Struct, frozen=True, kw_only=True):
    """What the tokens of one pool came to today, UTC. None: its cost is not known."""

    pool: str
    hardware: str  # empty: unknown
    tokens: int  # prompt and answer
    usd_busy: float | None  # of the time, or the hosted tokens, that requests used
    usd_paid: float | None  # of all the time that was paid for


class FleetMeters:
    """One per supervisor. What cannot be asked for has no line."""

    def __init__(
        self,
        page: Callable[[], FleetPage | None],
        pools: Callable[[], Mapping[str, PoolSettings]],
        *,
        devices: Callable[[], AcceleratorsSeen] | None = None,
        drifts: Callable[[], Sequence[DriftSeen]] | None = None,
        costs: Callable[[], Sequence[TokenCost]] | None = None,
        limits: Callable[[], Sequence[LimitUse]] | None = None,
    ) -> None:
        self._page = page
        self._pools = pools
        self._devices = devices
        self._drifts = drifts
        self._costs = costs
        self._limits = limits

    def samples(self) -> list[Sample]:
        """Everything, as of now."""
        page = self._page()
        return [
            *(() if page is None else replica_samples(page, self._pools())),
            *(() if self._devices is None else device_samples(self._devices().devices)),
            *(() if self._drifts is None else drift_samples(self._drifts())),
            *(() if self._costs is None else cost_samples(self._costs())),
            *(() if self._limits is None else limit_samples(self._limits())),
        ]


def replica_samples(page: FleetPage, pools: Mapping[str, PoolSettings]) -> list[Sample]:
    """Every state of every pool has its line, so that no replica is a zero and not an absence."""
    counts = {(name, pool.hardware or ""): dict.fromkeys(ReplicaCondition, 0) for name, pool in pools.items()}
    usd_per_hour: dict[tuple[str, str], float] = {}
    for row in page.replicas:
        labels = (row.pool, row.hardware or "")
        counts.setdefault(labels, dict.fromkeys(ReplicaCondition, 0))[row.state] += 1
        if row.price.usd_per_hour is not None:
            is_paid = row.state is not ReplicaCondition.DOWN
            usd_per_hour[labels] = usd_per_hour.get(labels, 0.0) + is_paid * row.price.usd_per_hour
    return [
        *(
            _sample(metrics.replicas, (*labels, state.value), count)
            for labels, states in counts.items()
            for state, count in states.items()
        ),
        *(_sample(metrics.usd_per_second, labels, usd / HOUR_S) for labels, usd in usd_per_hour.items()),
    ]


def device_samples(devices: Iterable[DeviceSeen]) -> list[Sample]:
    """What an exporter does not say has no line."""
    samples: list[Sample] = []
    for one in devices:
        labels, reading = (one.pool, one.hardware, one.device), one.reading
        known = (
            (metrics.accelerator_utilisation, reading.utilisation),
            (metrics.accelerator_memory_used, reading.memory_used_bytes),
            (metrics.accelerator_memory_total, reading.memory_total_bytes),
            (metrics.accelerator_power, reading.power_w),
            (metrics.accelerator_temperature, reading.temperature_c),
        )
        samples += [_sample(meter, labels, value) for meter, value in known if value is not None]
    return samples


def drift_samples(drifts: Iterable[DriftSeen]) -> list[Sample]:
    """A replica that could not be asked has no line."""
    return [
        _sample(metrics.replica_drift, (one.pool, one.replica), one.kl_nats)
        for one in drifts
        if one.kl_nats is not None
    ]


def cost_samples(costs: Iterable[TokenCost]) -> list[Sample]:
    """A pool without tokens, or without a price, has no cost of them."""
    return [
        _sample(metrics.usd_per_million_tokens, (cost.pool, cost.hardware, what), usd / cost.tokens * MILLION)
        for cost in costs
        if cost.tokens
        for what, usd in (("busy", cost.usd_busy), ("paid", cost.usd_paid))
        if usd is not None
    ]


def limit_samples(limits: Iterable[LimitUse]) -> list[Sample]:
    """The most used of them; a limit of nothing that nothing was used of is not used."""
    shares = ((_share(one), one.level, one.limit_name) for one in limits)
    fullest = sorted(shares, key=lambda one: (-one[0], one[1], one[2]))[:LIMITS_MAX]
    return [_sample(metrics.limit_used, (level, limit), share) for share, level, limit in fullest]


def _share(use: LimitUse) -> float:
    if use.limit <= 0:
        return 1.0 if use.used > 0 else 0.0
    return use.used / use.limit


def _sample(meter: Meter, labels: tuple[str, ...], value: float) -> Sample:
    return Sample(meter.name, labels, [float(value)])
