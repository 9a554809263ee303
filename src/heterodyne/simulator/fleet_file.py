"""Reads the pools of a fleet to simulate: a file that a plan wrote, one of its own, or the settings file of `serve`."""

import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.nearest import unknown_name
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.fleet.pool_scaling import PoolScaling
from heterodyne.fleet.settings import PoolSettings
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.precision import Precision
from heterodyne.physics.step_time import Speculation
from heterodyne.simulator.promise import Promise

REPLICAS_MAX = 4096
POOLS, PROMISE, KV_STORES = "pools", "promise", "kv_stores"


class SimulatedPool(Struct, frozen=True, kw_only=True):
    """One pool, in the words of the settings, and some of its own: two precisions, `speculation`, `slowdown`,
    `autoscaling`, and how fast KV goes in and out of a replica."""

    model: Annotated[str, Meta(min_length=1)]
    hardware: str
    engine: EngineKind = EngineKind.VLLM
    engine_model: str | None = None  # where the public name is none that the performance model knows
    shape: str | None = None  # the built-in model that it has the size of; goes before both
    tp: Annotated[int, Meta(ge=1)] = 1
    precision: Precision | None = None  # None: what the model comes in
    kv_precision: Precision = Precision.BF16
    replicas: Annotated[int, Meta(ge=1, le=REPLICAS_MAX)] = 1
    slots: Annotated[int, Meta(ge=1)] | None = None  # None: the engine's default
    context_tokens: Annotated[int, Meta(ge=16)] | None = None  # None: all the model takes
    version: str | None = None
    price_usd_per_hour: Annotated[float, Meta(ge=0)] | None = None  # None: the lowest of its hardware
    price_usd_per_million_prompt_tokens: Annotated[float, Meta(ge=0)] | None = None
    price_usd_per_million_completion_tokens: Annotated[float, Meta(ge=0)] | None = None
    price_usd_per_million_cached_tokens: Annotated[float, Meta(ge=0)] | None = None
    price_usd_per_million_cache_write_tokens: Annotated[float, Meta(ge=0)] | None = None
    price_long_prompt_tokens: Annotated[int, Meta(ge=1)] | None = None
    price_long_usd_per_million_prompt_tokens: Annotated[float, Meta(ge=0)] | None = None
    price_long_usd_per_million_completion_tokens: Annotated[float, Meta(ge=0)] | None = None
    price_long_usd_per_million_cached_tokens: Annotated[float, Meta(ge=0)] | None = None
    price_long_usd_per_million_cache_write_tokens: Annotated[float, Meta(ge=0)] | None = None
    region: str | None = None
    labels: dict[str, str] = {}
    in_flight_max: Annotated[int, Meta(ge=1)] | None = None
    speculation: Speculation | None = None  # tokens guessed ahead, and the chance that one is right
    slowdown: Annotated[float, Meta(gt=0)] = 1.0  # its steps take so many times what is predicted
    autoscaling: PoolScaling | None = None  # None: it keeps its replicas
    role: ReplicaRole = ReplicaRole.BOTH
    kv_transfer: str | None = None  # how its engines exchange KV; None: they do not
    kv_store: str | None = None  # of `kv_stores`
    kv_link: str | None = None  # the accelerator whose own link joins its replicas; goes after `kv_gb_per_s`
    kv_gb_per_s: Annotated[float, Meta(gt=0)] | None = None  # in and out of each replica; None: 200 Gb/s a chip
    kv_latency_ms: Annotated[float, Meta(ge=0)] = 26.0  # of a transfer, whatever its length
    kv_host_gb: Annotated[float, Meta(ge=0)] = 0.0  # of the host's memory, below each replica
    kv_host_gb_per_s: Annotated[float, Meta(gt=0)] | None = None  # None: 50 a chip, as PCIe 5 does


class FleetFile(Struct, frozen=True, kw_only=True):
    """What a file says."""

    pools: dict[str, SimulatedPool]
    left_out: tuple[str, ...] = ()  # pools without hardware: nothing is known of their speed
    promise: Promise | None = None  # None: the file promises nothing
    kv_stores: dict[str, KvStoreSettings] = {}  # that pools share


def read_fleet(path: Path, *, tables: Collection[str] = ()) -> FleetFile:
    """Every pool that names its hardware; raises `InvalidSpec` with the place of what is wrong.

    `tables` are those that may stand beside the pools, which are the settings' and say nothing here.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidSpec(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSpec(f"{path}: {error}") from error
    pools_said = document.get("pools")
    if not isinstance(pools_said, dict) or not pools_said:
        raise InvalidSpec(f"{path}: no pools; describe each as [pools.NAME] with model, hardware and replicas")
    known = dict.fromkeys((POOLS, PROMISE, KV_STORES, *tables))
    for table in document:
        if table not in known:
            raise InvalidSpec(f"{path}: {unknown_name('section', table, known)}")
    for name, table in pools_said.items():
        if not isinstance(table, dict):
            raise InvalidSpec(f"{path}: pools.{name}: not a table; write [pools.{name}]")
        _check_fields(f"{path}: pools.{name}", table)
    pools = {
        name: _pool(f"{path}: pools.{name}", table)
        for name, table in pools_said.items()
        if table.get("hardware") is not None
    }
    if not pools:
        raise InvalidSpec(f'{path}: no pool names its hardware; add for example hardware = "h100-sxm"')
    left_out = tuple(name for name in pools_said if name not in pools)
    stores = _kv_stores(path, document.get(KV_STORES, {}))
    for name, pool in pools.items():
        if pool.kv_store is not None and pool.kv_store not in stores:
            raise InvalidSpec(f"{path}: pools.{name}: {unknown_name('kv_store', pool.kv_store, stores)}")
    return FleetFile(pools=pools, left_out=left_out, promise=_promise(path, document.get(PROMISE)), kv_stores=stores)


def _kv_stores(path: Path, table: object) -> dict[str, KvStoreSettings]:
    try:
        return msgspec.convert(table, dict[str, KvStoreSettings])
    except msgspec.ValidationError as error:
        raise InvalidSpec(f"{path}: {KV_STORES}: {error}") from error


def _promise(path: Path, table: object) -> Promise | None:
    if table is None:
        return None
    try:
        return msgspec.convert(table, Promise)
    except msgspec.ValidationError as error:
        raise InvalidSpec(f"{path}: {PROMISE}: {error}") from error


def _check_fields(place: str, table: Mapping[str, object]) -> None:
    """Of every pool: one whose `hardware` is misspelt would be left out as if it named none."""
    known = dict.fromkeys((*SimulatedPool.__struct_fields__, *PoolSettings.__struct_fields__))
    for field, value in table.items():
        if field in known:
            continue
        if isinstance(value, dict):  # [pools.llama-3.1] is a table "1" inside "llama-3"
            name = f"{place.rpartition('pools.')[2]}.{field}".replace(".", "-")
            raise InvalidSpec(f"{place}.{field}: a dot begins a table inside another; write [pools.{name}]")
        raise InvalidSpec(f"{place}: {unknown_name('field', field, known)}")


def _pool(place: str, table: Mapping[str, object]) -> SimulatedPool:
    said = {field: value for field, value in table.items() if field in SimulatedPool.__struct_fields__}
    urls = table.get("urls")
    if "replicas" not in said and isinstance(urls, list) and urls:
        said["replicas"] = len(urls)
    try:
        return msgspec.convert(said, SimulatedPool)
    except msgspec.ValidationError as error:
        raise InvalidSpec(f"{place}: {error}") from error
