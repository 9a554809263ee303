"""One replica as the watch sees it now, for the admin API and the console."""

from msgspec import Struct

from heterodyne.control.problems import ReplicaProblem
from heterodyne.domain.engine_load import EngineLoad
from heterodyne.domain.fleet import Health, PoolName, ReplicaId


class ReplicaSeen(Struct, frozen=True, kw_only=True):
    """Ages are of the moment it was asked for."""

    id: ReplicaId
    pool: PoolName
    model: str
    engine: str
    url: str
    health: Health
    health_for_s: float
    is_draining: bool
    looked_ago_s: float | None  # None: not yet
    probe_ms: float | None  # how long its health page took last; None: not asked yet
    error: str | None  # why it was not ready at the last look
    context_tokens: int | None
    adapters: tuple[str, ...]
    serves: tuple[str, ...]  # the names of its model list; empty: it has none, or it was not read
    load: EngineLoad | None
    load_age_s: float | None
    restarts: int  # seen by this worker
    problems: tuple[ReplicaProblem, ...]


class FleetSeen(Struct, frozen=True, kw_only=True):
    """All of them, and how the watch is paced."""

    version: int  # of the snapshot that was published last
    interval_s: float  # between looks at a ready replica, before jitter
    replicas: tuple[ReplicaSeen, ...]
