"""What a pool's replicas are joined by for KV, and what is built of that for a run."""

from collections.abc import Iterable
from math import inf

from msgspec import Struct

from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.routing.fabric.fabric import MEDIA
from heterodyne.simulator.kv.held_blocks import HeldBlocks
from heterodyne.simulator.kv.replica_kv import ReplicaKv
from heterodyne.simulator.kv.simulated_store import SimulatedStore
from heterodyne.simulator.kv.transfers import Port


class KvWiring(Struct, frozen=True, kw_only=True):
    """Of each replica of a pool."""

    token_bytes: float  # of all its chips
    bytes_per_s: float  # in, and as much out
    latency_s: float
    host_bytes: float  # 0: what the accelerator forgets is gone
    host_bytes_per_s: float
    store: str = ""
    store_settings: KvStoreSettings | None = None

    def replica_kv(self, hash_tokens: int) -> ReplicaKv:
        """One replica's."""
        held = int(self.host_bytes / (self.token_bytes * hash_tokens))
        return ReplicaKv(
            token_bytes=self.token_bytes,
            bytes_per_s=self.bytes_per_s,
            latency_s=self.latency_s,
            bus_bytes_per_s=self.host_bytes_per_s,
            held_by_host=HeldBlocks(held) if held else None,
        )


def store_settings(pools: Iterable[KvWiring]) -> dict[str, KvStoreSettings]:
    """As a router is told of them."""
    return {pool.store: pool.store_settings for pool in pools if pool.store_settings is not None}


def stores_of(pools: Iterable[KvWiring], hash_tokens: int) -> dict[str, SimulatedStore]:
    """Each store once: spread over so many hosts that readers do not slow each other. Its blocks are those of the
    first pool that shares it."""
    stores: dict[str, SimulatedStore] = {}
    for pool in pools:
        settings = pool.store_settings
        if settings is None or pool.store in stores:
            continue
        held = int(settings.capacity_gb * 1e9 / (pool.token_bytes * hash_tokens))
        latency_s, bytes_per_s = MEDIA[settings.medium]
        bytes_per_s = settings.bytes_per_s or bytes_per_s
        latency_s = latency_s if settings.latency_ms is None else settings.latency_ms / 1e3
        stores[pool.store] = SimulatedStore(
            HeldBlocks(held, inf if settings.ttl_s is None else settings.ttl_s),
            Port(inf, latency_s, each_bytes_per_s=bytes_per_s),
            Port(inf, latency_s, each_bytes_per_s=bytes_per_s),
        )
    return stores
