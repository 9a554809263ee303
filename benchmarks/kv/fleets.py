"""The fleets that strategies are compared on: the same chips for the same money, wired and divided differently."""

from functools import lru_cache

from msgspec import Struct, structs

from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.domain.routing_rule import KvStrategy
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.precision import Precision
from heterodyne.simulator.fleet import LaidOutPool, lay_out
from heterodyne.simulator.fleet_file import FleetFile, SimulatedPool

MODEL, CHIP = "llama-3.1-8b", "h100-sxm"
REPLICAS = 8
STORE = "shared"
STORE_GB = 200.0 * REPLICAS  # of host memory, which comes with the machines


class KvNetwork(Struct, frozen=True, kw_only=True):
    """What joins the replicas."""

    name: str
    gb_per_s: float
    latency_ms: float


NETWORKS = (
    KvNetwork(name="400 Gb/s RDMA", gb_per_s=50.0, latency_ms=5.0),
    KvNetwork(name="100 Gb/s RDMA", gb_per_s=12.5, latency_ms=5.0),
    KvNetwork(name="25 Gb/s TCP", gb_per_s=3.1, latency_ms=26.0),
    KvNetwork(name="1 Gb/s TCP", gb_per_s=0.12, latency_ms=26.0),
)


class Way(Struct, frozen=True, kw_only=True):
    """One way to serve: a strategy on replicas of these roles."""

    name: str
    kv: KvStrategy
    prefilling: int = 0  # of the replicas
    answering: int | None = None  # None: all others
    prefill_tp: int | None = None  # chips of each; None: as the shape has it
    decode_tp: int | None = None
    has_tiers: bool = False  # its engines copy KV from each other and share a store

    @property
    def needs_network(self) -> bool:
        """Whether it is another on another network."""
        return self.has_tiers or self.prefilling > 0


class Shape(Struct, frozen=True, kw_only=True):
    """What every replica is."""

    model: str = MODEL
    chip: str = CHIP
    tp: int = 1
    replicas: int = REPLICAS
    precision: Precision | None = None  # None: what the model comes in
    mixes_prompts: bool = True  # a step holds prompts and answers, as engines do it now

    @property
    def chips(self) -> int:
        """All of them."""
        return self.replicas * self.tp


EIGHT = Shape()


@lru_cache(maxsize=256)
def pools_of(way: Way, network: KvNetwork, shape: Shape = EIGHT) -> tuple[LaidOutPool, ...]:
    """Laid out."""
    transfer = ("dynamo" if way.has_tiers else "nixl") if way.needs_network else None

    def pool(role: ReplicaRole, replicas: int, tp: int | None = None) -> SimulatedPool:
        return SimulatedPool(
            model=shape.model,
            hardware=shape.chip,
            tp=tp or shape.tp,
            precision=shape.precision,
            replicas=replicas,
            role=role,
            kv_transfer=transfer,
            kv_store=STORE if way.has_tiers else None,
            kv_gb_per_s=network.gb_per_s,
            kv_latency_ms=network.latency_ms,
        )

    if way.prefilling:
        answering = shape.replicas - way.prefilling if way.answering is None else way.answering
        pools = {
            "prompts": pool(ReplicaRole.PREFILL, way.prefilling, way.prefill_tp),
            "answers": pool(ReplicaRole.DECODE, answering, way.decode_tp),
        }
    else:
        pools = {"both": pool(ReplicaRole.BOTH, shape.replicas)}
    store = KvStoreSettings(
        medium="memory", capacity_gb=STORE_GB, bytes_per_s=network.gb_per_s * 1e9, latency_ms=network.latency_ms
    )
    file = FleetFile(pools=pools, kv_stores={STORE: store} if way.has_tiers else {})
    return tuple(
        structs.replace(one, scheduling=structs.replace(one.scheduling, mixes_prompts=shape.mixes_prompts))
        for one in lay_out(file, model_from=model_from)
    )


def model_from(name: str) -> ModelSpec:
    """Ours, and one that only a published figure needs."""
    return OPT_13B if name == OPT_13B.name else model_spec(name)


OPT_13B = ModelSpec(
    name="opt-13b",
    layers=40,
    hidden=5120,
    heads=40,
    kv_heads=40,
    head_dim=128,
    intermediate=20480,
    vocabulary=50272,
    context_tokens=2048,
    has_gated_mlp=False,
    has_tied_embeddings=True,
)
