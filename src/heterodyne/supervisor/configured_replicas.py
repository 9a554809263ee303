"""From the settings to the fleet: replicas that run, orders for those to be started here, and rules of models."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct, structs

from heterodyne.config.settings import Settings
from heterodyne.domain.fleet import KvWarmUp, ModelRule, PoolName, Purpose, Replica, ReplicaId, WarmUp
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.domain.routing_rule import KvStrategy, Requirement, RoutingRule
from heterodyne.engines.catalogue import ENGINES
from heterodyne.engines.open_inference import OpenInferenceDialect
from heterodyne.fleet.chat_template import TOOL_CALL_OPENINGS, read_chat_template
from heterodyne.fleet.child_order import ChildOrder, CommandOrder
from heterodyne.fleet.command_pool import CommandPool
from heterodyne.fleet.free_ports import LOOPBACK, free_ports
from heterodyne.fleet.kv_layout import kv_layout
from heterodyne.fleet.kv_publishers import kv_publishers
from heterodyne.fleet.local_child import LocalPool
from heterodyne.fleet.machine_memory import GIB
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.fleet.platform_settings import Platform
from heterodyne.fleet.pool_scaling import PoolScaling
from heterodyne.fleet.settings import PoolSettings
from heterodyne.physics.catalogue import accelerator, accelerators, with_overrides
from heterodyne.physics.hardware import Accelerator
from heterodyne.planning.hardware.replica_price import replica_price


class LocalReplica(Struct, frozen=True, kw_only=True):
    """A replica that this process starts."""

    replica: Replica
    order: ChildOrder
    start_timeout_s: float


def remote_replicas(settings: Settings) -> tuple[Replica, ...]:
    """The replicas reached by URL."""
    catalogue = _catalogue(settings)
    return tuple(
        _remote(_described(settings, name, index, catalogue), pool, index)
        for name, pool in settings.pools.items()
        for index in range(len(pool.urls))
    )


def driven_pools(settings: Settings, weights: Mapping[str, Path]) -> dict[PoolName, LocalPool]:
    """The pools whose replicas the driver of this machine starts: those of a command, and all that grow and shrink."""
    catalogue = _catalogue(settings)
    return {
        PoolName(name): _driven(
            _described(settings, name, 0, catalogue), pool, weights.get(name), _slot_folder(settings, pool)
        )
        for name, pool in settings.pools.items()
        if (pool.command and pool.runs_on == "here") or (pool.autoscaling and name in weights)
    }


def command_pools(settings: Settings, runs_on: Platform) -> dict[PoolName, CommandPool]:
    """The pools whose command runs on that platform."""
    catalogue = _catalogue(settings)
    return {
        PoolName(name): _command_pool(_described(settings, name, 0, catalogue), pool)
        for name, pool in settings.pools.items()
        if pool.command and pool.runs_on == runs_on
    }


def local_replicas(settings: Settings, weights: Mapping[str, Path]) -> tuple[LocalReplica, ...]:
    """Of every pool whose weights are at hand and that keeps its replicas, all, each on a port of its own."""
    catalogue = _catalogue(settings)
    described = [
        (_described(settings, name, index, catalogue), settings.pools[name], path)
        for name, path in weights.items()
        if not settings.pools[name].autoscaling
        for index in range(settings.pools[name].replicas)
    ]
    ports = free_ports(len(described))
    return tuple(
        _local(replica, pool, path, port, _slot_folder(settings, pool))
        for (replica, pool, path), port in zip(described, ports, strict=True)
    )


def model_rules(settings: Settings) -> dict[str, ModelRule]:
    """What the settings say about models, as the data plane reads it."""
    catalogue = _catalogue(settings)
    return {name: _rule(model, catalogue) for name, model in settings.models.items()}


def _catalogue(settings: Settings) -> Mapping[str, Accelerator]:
    return with_overrides(accelerators(), settings.physics.hardware)


def _rule(model: ModelSettings, catalogue: Mapping[str, Accelerator]) -> ModelRule:
    return ModelRule(
        pools=None if model.pools is None else tuple(map(PoolName, model.pools)),
        aliases=model.aliases,
        fallbacks=model.fallbacks,
        context_tokens=model.context_tokens,
        regions_only=model.regions_only,
        regions_first=model.regions_first,
        requires=_requirement(model, catalogue),
        routing=_routing_rule(model, catalogue),
        late_fallbacks=model.fallbacks_when_late,
        degraded=model.degrade,
    )


def _requirement(model: ModelSettings, catalogue: Mapping[str, Accelerator]) -> Requirement:
    return Requirement(
        hardware=_chips(model.require_hardware, catalogue),
        engines=model.require_engines,
        labels=model.require_labels,
        memory_bytes_min=model.require_memory_bytes_min,
    )


def _routing_rule(model: ModelSettings, catalogue: Mapping[str, Accelerator]) -> RoutingRule:
    return RoutingRule(
        policy=model.policy,
        ttft_slo_s=None if model.slo_ttft_ms is None else model.slo_ttft_ms / 1000,
        itl_slo_s=None if model.slo_itl_ms is None else model.slo_itl_ms / 1000,
        kv=KvStrategy(model.kv),
        is_kv_shared=model.kv_shared,
        prefers_hardware=_chips(model.prefer_hardware, catalogue),
        prefers_labels=model.prefer_labels,
        mix=model.mix,
        is_overridable=model.policy_override,
    )


def _chips(names: tuple[str, ...], catalogue: Mapping[str, Accelerator]) -> tuple[str, ...]:
    """Replicas go by the catalogue's own names, not by other ones for the same chip."""
    return tuple(dict.fromkeys(accelerator(name, catalogue).name for name in names))


def _described(settings: Settings, name: str, index: int, catalogue: Mapping[str, Accelerator]) -> Replica:
    """What every replica of a pool has in common; where it is reached is left to others."""
    pool = settings.pools[name]
    store = settings.kv_stores.get(pool.kv_store or "")
    chip = None if pool.hardware is None else accelerator(pool.hardware, catalogue)
    return Replica(
        id=ReplicaId(f"{name}-{index}"),
        pool=PoolName(name),
        model=pool.model,
        engine=pool.engine,
        host=LOOPBACK,
        port=0,
        context_tokens=pool.context_tokens,
        version=pool.version,
        hardware=None if chip is None else chip.name,
        tp=pool.tp,
        memory_bytes=None if chip is None else int(chip.memory_bytes) * pool.tp,
        region=pool.region,
        labels=pool.labels,
        price=replica_price(pool, chip),
        allow_fields=pool.allow_fields,
        in_flight_max=pool.in_flight_max,
        adapters={**pool.adapters},
        adapters_max=pool.adapters_max,
        warm_up=_try_warm_up(pool),
        kv_warm_up=KvWarmUp(prompts=pool.kv_warm_up, bound_s=pool.kv_warm_up_s) if pool.kv_warm_up else None,
        kv_prefetch=pool.kv_prefetch,
        role=ReplicaRole(pool.role),
        kv_transfer=pool.kv_transfer or "",
        kv_store=pool.kv_store or "",
        kv_store_regions=() if store is None else store.regions,
        kv_layout=kv_layout(name, pool),
        kv_host_bytes=int(pool.kv_host_gb * 1e9),
    )


def _try_warm_up(pool: PoolSettings) -> WarmUp | None:
    if not pool.warm_up_prompts and not pool.warm_up_lengths:
        return None
    return WarmUp(prompts=pool.warm_up_prompts, lengths=pool.warm_up_lengths, timeout_s=pool.warm_up_timeout_s)


def _remote(replica: Replica, pool: PoolSettings, index: int) -> Replica:
    parts = urlsplit(pool.urls[index])
    is_tls = parts.scheme == "https"
    return structs.replace(
        replica,
        host=parts.hostname or LOOPBACK,
        port=parts.port or (443 if is_tls else 80),
        tls=is_tls,
        tls_files=pool.tls_files if is_tls else None,
        base_path=parts.path.rstrip("/"),
        purpose=Purpose.INFER if pool.engine == OpenInferenceDialect.name else None,
        engine_model=pool.engine_model,
        api_key_env=pool.api_key_env,
        kv_publishers=kv_publishers(pool, index),
    )


def _local(replica: Replica, pool: PoolSettings, weights: Path, port: int, slot_folder: str | None) -> LocalReplica:
    order = structs.replace(_llamacpp_order(pool, weights, slot_folder), port=port)
    started = structs.replace(_of_weights(replica, pool), port=port)
    return LocalReplica(replica=started, order=order, start_timeout_s=pool.start_timeout_s)


def _driven(replica: Replica, pool: PoolSettings, weights: Path | None, slot_folder: str | None) -> LocalPool:
    scaling = pool.scaling or PoolScaling(minimum=pool.replicas, maximum=pool.replicas)
    if weights is None:
        health_path = ENGINES[pool.engine].health_path
        order: ChildOrder | CommandOrder = CommandOrder(words=pool.command, health_path=health_path)
        started = structs.replace(replica, engine_model=pool.engine_model, api_key_env=pool.api_key_env)
    else:
        order, started = _llamacpp_order(pool, weights, slot_folder), _of_weights(replica, pool)
    return LocalPool(
        replica=started,
        order=order,
        first=min(max(pool.replicas, scaling.minimum), scaling.maximum),
        maximum=scaling.maximum,
        start_timeout_s=pool.start_timeout_s,
        memory_bytes=None if scaling.memory_gib is None else int(scaling.memory_gib * GIB),
    )


def _command_pool(replica: Replica, pool: PoolSettings) -> CommandPool:
    scaling = pool.scaling or PoolScaling(minimum=pool.replicas, maximum=pool.replicas)
    return CommandPool(
        replica=structs.replace(replica, engine_model=pool.engine_model, api_key_env=pool.api_key_env),
        words=pool.command,
        health_path=ENGINES[pool.engine].health_path,
        first=min(max(pool.replicas, scaling.minimum), scaling.maximum),
        minimum=0 if pool.autoscaling else pool.replicas,
        maximum=scaling.maximum,
        start_timeout_s=pool.start_timeout_s,
    )


def _of_weights(replica: Replica, pool: PoolSettings) -> Replica:
    return structs.replace(
        replica,
        purpose=Purpose(pool.purpose),
        tool_call_opening=TOOL_CALL_OPENINGS.get(pool.chat_template or ""),
    )


def _slot_folder(settings: Settings, pool: PoolSettings) -> str | None:
    """Where its engines save slots; None: they do not."""
    store = settings.kv_stores.get(pool.kv_store or "")
    return None if store is None or pool.kv_transfer != "slots" else store.path


def _llamacpp_order(pool: PoolSettings, weights: Path, slot_folder: str | None) -> ChildOrder:
    return ChildOrder(
        model_path=str(weights),
        alias=pool.model,
        host=LOOPBACK,
        context_tokens=pool.context_tokens,
        slots=pool.slots,
        threads=pool.threads,
        gpu_layers=pool.gpu_layers,
        purpose=pool.purpose,
        chat_template=read_chat_template(pool.chat_template),
        slot_folder=slot_folder,
    )
