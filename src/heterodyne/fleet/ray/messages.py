"""What is said to the process that speaks with a Ray cluster, and what it answers: one line of JSON each."""

from msgspec import Struct, field


class RayOrder(Struct, frozen=True, kw_only=True):
    """The first line: which cluster."""

    address: str
    namespace: str


class RayPoolSpec(Struct, frozen=True, kw_only=True):
    """How the replicas of a pool are started there."""

    words: tuple[str, ...]
    health_path: str
    first: int
    start_timeout_s: float
    stop_timeout_s: float
    options: dict[str, object]  # of its actors: num_gpus, accelerator_type, resources, label_selector


class AskedCount(Struct, frozen=True, kw_only=True):
    """A pool is to have so many replicas."""

    pool: str
    count: int
    seen: int
    leaving: tuple[str, ...] = ()


class RayCall(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One look at all pools, after a count was asked for."""

    pools: dict[str, RayPoolSpec]
    known: dict[str, int] = {}  # the count that was seen last
    timeout_s: float = 10.0
    asked: AskedCount | None = None


class RayReplica(Struct, frozen=True, kw_only=True):
    """One replica, as its pool's keeper has it."""

    id: str
    stage: str
    asked_at_s: float
    ready_at_s: float | None = None
    host: str | None = None  # None: it has no node yet
    port: int = 0
    node: str = ""
    problem: str | None = None


class RayPoolState(Struct, frozen=True, kw_only=True):
    """One pool, or why it is not known."""

    version: int = 0  # of the keeper's text
    wanted: int | None = None
    replicas: tuple[RayReplica, ...] = ()
    conflict: int | None = None  # somebody else has asked for so many meanwhile, and nothing was changed
    error: str | None = None


class RayNode(Struct, frozen=True, kw_only=True, rename="pascal"):
    """One node of the cluster, as Ray tells it."""

    alive: bool
    node_id: str = field(name="NodeID", default="")
    node_name: str = ""
    resources: dict[str, float] = {}
    labels: dict[str, str] = {}


class RayAnswer(Struct, frozen=True, kw_only=True):
    """To the order or to a call."""

    error: str | None = None  # nothing of it was done, or it is not known what was
    pools: dict[str, RayPoolState] = {}
    nodes: tuple[RayNode, ...] = ()
