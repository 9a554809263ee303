"""Pools laid out on their hardware: what each replica is, how fast physics says it is, and how fast it will be."""

from collections.abc import Callable, Mapping, Sequence
from math import gcd

from msgspec import Struct, structs

from heterodyne.domain.errors import InvalidSpec, UnknownName
from heterodyne.domain.fleet import Health, PoolName, Replica, ReplicaId
from heterodyne.domain.nearest import unknown_name
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.hardware import Accelerator
from heterodyne.physics.kv import kv_bytes_per_token
from heterodyne.physics.memory import Layout
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.profile import Basis, Profile
from heterodyne.physics.profile_catalogue import profile_for
from heterodyne.physics.replica.from_layout import placement_of, scheduling_of
from heterodyne.physics.replica.job import Scheduling
from heterodyne.physics.replica.machine import ReplicaMachine
from heterodyne.physics.replica.step_clock import StepClock
from heterodyne.physics.step_time import Speculation
from heterodyne.planning.hardware.replica_price import replica_price
from heterodyne.planning.launch.sizing import CONTEXT_TOKENS
from heterodyne.planning.mix.role_rate import KV_LINK
from heterodyne.routing.prediction.pool_prior import doubt_of
from heterodyne.routing.prediction.prior import Prior, prior_of
from heterodyne.simulator.fleet_file import FleetFile, SimulatedPool
from heterodyne.simulator.kv.wiring import KvWiring

HOST_GB_PER_S = 50.0  # a chip, between host memory and its own: PCIe 5


class LaidOutPool(Struct, frozen=True, kw_only=True):
    """Equal replicas of one model."""

    name: str
    layout: Layout
    profile: Profile
    basis: Basis
    scheduling: Scheduling
    slowdown: float
    speculation: Speculation | None
    sequence_tokens_max: int  # prompt and answer together
    replicas: tuple[Replica, ...]  # as a gateway would list them
    kv: KvWiring

    def clock(self) -> StepClock:
        """How fast physics says it is."""
        return StepClock(placement_of(self.layout), self.profile, speculation=self.speculation)

    def prior(self) -> Prior:
        """What a gateway knows of it before the first request."""
        return structs.replace(
            prior_of(self.clock(), self.scheduling, doubt=doubt_of(self.basis)),
            kv_token_bytes=self.kv.token_bytes,
            kv_link_bytes_per_s=self.kv.bytes_per_s,
        )

    def real_clock(self) -> StepClock:
        """How fast it is."""
        placement = placement_of(self.layout)
        return StepClock(placement, self.profile, speculation=self.speculation, slowdown=self.slowdown)

    def machines(self, hash_tokens: int, clock: StepClock | None = None) -> list[ReplicaMachine]:
        """One for each replica, all by one clock, for prompts whose blocks are hashed so long.

        Blocks are made small enough that a hash stands for whole ones.
        """
        clock = clock or self.real_clock()
        size = gcd(hash_tokens, self.scheduling.block_tokens)
        scheduling = structs.replace(
            self.scheduling,
            block_tokens=size,
            blocks=self.scheduling.kv_tokens // size,
            blocks_per_hash=hash_tokens // size,
        )
        return [ReplicaMachine(clock, scheduling) for _ in self.replicas]


def lay_out(
    file: FleetFile,
    *,
    model: str | None = None,
    catalogue: Mapping[str, Accelerator] | None = None,
    measured: Sequence[Profile] = (),
    model_from: Callable[[str], ModelSpec] = model_spec,
) -> tuple[LaidOutPool, ...]:
    """The pools of one model, which must be named where the file has several."""
    models = list(dict.fromkeys(pool.model for pool in file.pools.values()))
    if model is None and len(models) > 1:
        raise InvalidSpec(f"the fleet serves {', '.join(models)}; name the one that the trace is for with --model")
    if model is not None and model not in models:
        raise unknown_name("model in the fleet", model, models)
    wanted = model or models[0]
    if all(pool.role is ReplicaRole.PREFILL for pool in file.pools.values() if pool.model == wanted):
        raise InvalidSpec(f'all pools of {wanted} have role = "prefill": none answers; give one the role "decode"')
    return tuple(
        _laid_out(name, pool, catalogue, measured, model_from, stores=file.kv_stores)
        for name, pool in file.pools.items()
        if pool.model == wanted
    )


def _laid_out(
    name: str,
    pool: SimulatedPool,
    catalogue: Mapping[str, Accelerator] | None,
    measured: Sequence[Profile],
    model_from: Callable[[str], ModelSpec],
    *,
    stores: Mapping[str, KvStoreSettings],
) -> LaidOutPool:
    try:
        spec = model_from(pool.shape or pool.engine_model or pool.model)
        chip = accelerator(pool.hardware, catalogue)
        layout = Layout(
            model=spec,
            accelerator=chip,
            precision=pool.precision or spec.checkpoint_precision,
            kv_precision=pool.kv_precision,
            tp=pool.tp,
            engine=pool.engine,
            slots=pool.slots,
        )
        longest = min(pool.context_tokens or spec.context_tokens, spec.context_tokens)
        scheduling = scheduling_of(layout, context_tokens=min(CONTEXT_TOKENS, longest))
        wiring = _wiring(pool, layout, catalogue, stores)
    except (InvalidSpec, UnknownName) as error:
        raise type(error)(f"pools.{name}: {error}") from error
    found = profile_for(spec, chip, engine=layout.engine, precision=layout.precision, tp=layout.tp, measured=measured)
    return LaidOutPool(
        name=name,
        layout=layout,
        profile=found.profile,
        basis=found.basis,
        scheduling=scheduling,
        slowdown=pool.slowdown,
        speculation=pool.speculation,
        sequence_tokens_max=min(longest, scheduling.kv_tokens),
        replicas=tuple(_replica(name, pool, layout, longest, number) for number in range(pool.replicas)),
        kv=wiring,
    )


def _wiring(
    pool: SimulatedPool,
    layout: Layout,
    catalogue: Mapping[str, Accelerator] | None,
    stores: Mapping[str, KvStoreSettings],
) -> KvWiring:
    if pool.kv_gb_per_s is not None:
        bytes_per_s = pool.kv_gb_per_s * 1e9
    else:
        link = KV_LINK if pool.kv_link is None else accelerator(pool.kv_link, catalogue).link
        bytes_per_s = link.pair_bytes_per_s * layout.tp
    host_gb_per_s = HOST_GB_PER_S * layout.tp if pool.kv_host_gb_per_s is None else pool.kv_host_gb_per_s
    return KvWiring(
        token_bytes=kv_bytes_per_token(layout.model, layout.kv_precision),
        bytes_per_s=bytes_per_s,
        latency_s=pool.kv_latency_ms / 1e3,
        host_bytes=pool.kv_host_gb * 1e9,
        host_bytes_per_s=host_gb_per_s * 1e9,
        store=pool.kv_store or "",
        store_settings=None if pool.kv_store is None else stores[pool.kv_store],
    )


def _replica(name: str, pool: SimulatedPool, layout: Layout, context_tokens: int, number: int) -> Replica:
    chip = layout.accelerator
    exchanges = pool.kv_transfer is not None or pool.kv_store is not None
    return Replica(
        id=ReplicaId(f"{name}-{number}"),
        pool=PoolName(name),
        model=pool.model,
        engine=pool.engine,
        host=f"{name}.simulated",
        port=number + 1,
        context_tokens=context_tokens,
        version=pool.version,
        hardware=chip.name,
        tp=pool.tp,
        region=pool.region,
        labels=pool.labels,
        price=replica_price(pool, chip),
        in_flight_max=pool.in_flight_max,
        role=pool.role,
        kv_transfer=pool.kv_transfer or "",
        kv_store=pool.kv_store or "",
        kv_layout=_kv_layout(pool, layout) if exchanges else "",
        kv_host_bytes=int(pool.kv_host_gb * 1e9),
        health=Health.READY,
    )


def _kv_layout(pool: SimulatedPool, layout: Layout) -> str:
    """What the replica's KV is made of."""
    return f"{layout.model.name} {pool.version or ''} {layout.precision} {layout.kv_precision} {layout.engine}"
