"""The fleet as an operator sees it: what is wanted, and what every worker knows of it."""

from enum import StrEnum

from msgspec import Struct

from heterodyne.domain.engine_load import EngineLoad
from heterodyne.domain.fleet import Health, Purpose
from heterodyne.domain.price import Price
from heterodyne.routing.health.breaker import BreakerState
from heterodyne.routing.health.snapshot import Obstacle


class ReplicaCondition(StrEnum):
    """What a replica is doing, in one word."""

    STARTING = "starting"
    READY = "ready"
    DOWN = "down"
    DRAINING = "draining"  # takes nothing new and still has work
    DRAINED = "drained"
    RESTARTING = "restarting"
    LEAVING = "leaving"  # out of the fleet as soon as its last answer is complete


class WorkerOpinion(Struct, frozen=True, kw_only=True):
    """What one worker knows of one replica."""

    worker: str
    health: Health
    obstacle: Obstacle | None  # why the worker would give it nothing; None: it would
    breaker: BreakerState | None  # None: it has not been judged
    ejected_for_s: float | None  # None: it is not ejected
    in_flight: int
    in_flight_limit: int | None
    remaining: dict[str, float] = {}  # of its provider's rate limits, by what they limit; empty: it says nothing


class ReplicaRow(Struct, frozen=True, kw_only=True):
    """One replica."""

    id: str
    pool: str
    model: str
    engine: str
    url: str
    state: ReplicaCondition
    health: Health  # the worst that a worker has seen
    is_drained: bool  # by an operator
    is_local: bool  # started here
    is_added: bool  # while running; the settings do not know it
    in_flight: int
    problems: tuple[str, ...]
    load: EngineLoad | None  # the freshest reading; None: there is none
    load_age_s: float | None
    restarts: int  # of its process where it was started here, else those the workers have noticed
    hardware: str | None
    tp: int
    region: str | None
    version: str | None
    labels: dict[str, str]
    price: Price
    workers: tuple[WorkerOpinion, ...]
    purpose: Purpose | None = None  # None: whatever the engine answers


class WorkerRow(Struct, frozen=True, kw_only=True):
    """One gateway worker."""

    name: str
    pid: int | None
    version: int | None  # of the fleet it works by; None: it has said nothing yet
    seen_ago_s: float | None
    in_flight: int
    restarts: int
    queued: int = 0  # waiting there for their turn


class ReloadRow(Struct, frozen=True, kw_only=True):
    """The last reload."""

    at: float  # seconds since the epoch
    is_good: bool
    problems: tuple[str, ...] = ()  # why it was refused
    needs_restart: tuple[str, ...] = ()


class GatewayVersion(Struct, frozen=True, kw_only=True):
    """The settings that one gateway works by."""

    gateway: str
    version: str  # "": it tells none


class SettingsStanding(Struct, frozen=True, kw_only=True):
    """Which settings hold here, and which at the other gateways over the same fleet."""

    version: str
    others: tuple[GatewayVersion, ...] = ()  # that are heard of now
    differs_at: tuple[str, ...] = ()  # where the file here is not the one that all agreed on last
    under_way: str = ""  # what the reload of all gateways waits for; "": there is none
    problem: str = ""  # of the last reload of all

    @property
    def apart(self) -> tuple[str, ...]:
        """Gateways that work by other settings than this one."""
        return tuple(one.gateway for one in self.others if one.version != self.version)


class FleetPage(Struct, frozen=True, kw_only=True):
    """Everything at once."""

    version: int
    is_applied: bool  # whether every worker works by this version
    workers: tuple[WorkerRow, ...]
    replicas: tuple[ReplicaRow, ...]
    reload: ReloadRow | None  # None: there was none
    settings: SettingsStanding = SettingsStanding(version="")


class Changed(Struct, frozen=True, kw_only=True):
    """What a change did."""

    version: int  # of the fleet
    replicas: tuple[str, ...]  # those it was about
    is_applied: bool  # whether every worker has said that it works by it; False: some worker is late
    note: str = ""


class Reloaded(Struct, frozen=True, kw_only=True):
    """What a reload did, replica by replica and setting by setting."""

    version: int
    is_applied: bool
    started: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()  # they finish what they have first
    changed: tuple[str, ...] = ()  # the same engine, about which the settings now say something else
    dropped: tuple[str, ...] = ()  # of those stopped, the ones that were added while running
    needs_restart: tuple[str, ...] = ()  # settings that keep their old value until then
    settings: str = ""  # the version that holds now
    gateways: tuple[str, ...] = ()  # that took it together; empty: this one alone
    note: str = ""
