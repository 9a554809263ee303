"""From pools in the settings to replicas: addresses of those that run, orders for those to be started here."""

import socket
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from heterodyne.config.settings import Settings
from heterodyne.domain.fleet import PoolName, Purpose, Replica, ReplicaId
from heterodyne.fleet.chat_template import TOOL_CALL_OPENINGS, read_chat_template
from heterodyne.fleet.child_order import ChildOrder
from heterodyne.fleet.settings import PoolSettings

LOOPBACK = "127.0.0.1"


class LocalReplica(Struct, frozen=True, kw_only=True):
    """A replica that this process starts."""

    replica: Replica
    order: ChildOrder
    start_timeout_s: float


def remote_replicas(settings: Settings) -> tuple[Replica, ...]:
    """The replicas reached by URL."""
    return tuple(
        _remote(name, pool, index, url) for name, pool in settings.pools.items() for index, url in enumerate(pool.urls)
    )


def local_replica(name: str, pool: PoolSettings, weights: Path, port: int) -> LocalReplica:
    """One replica of a pool whose weights are at hand."""
    replica = Replica(
        id=ReplicaId(f"{name}-0"),
        pool=PoolName(name),
        model=pool.model,
        engine=pool.engine,
        host=LOOPBACK,
        port=port,
        context_tokens=pool.context_tokens,
        purpose=Purpose(pool.purpose),
        tool_call_opening=TOOL_CALL_OPENINGS.get(pool.chat_template or ""),
    )
    order = ChildOrder(
        model_path=str(weights),
        alias=pool.model,
        host=LOOPBACK,
        port=port,
        context_tokens=pool.context_tokens,
        slots=pool.slots,
        threads=pool.threads,
        gpu_layers=pool.gpu_layers,
        purpose=pool.purpose,
        chat_template=read_chat_template(pool.chat_template),
    )
    return LocalReplica(replica=replica, order=order, start_timeout_s=pool.start_timeout_s)


def free_port() -> int:
    """A loopback port nobody uses now."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def _remote(name: str, pool: PoolSettings, index: int, url: str) -> Replica:
    parts = urlsplit(url)
    is_tls = parts.scheme == "https"
    return Replica(
        id=ReplicaId(f"{name}-{index}"),
        pool=PoolName(name),
        model=pool.model,
        engine=pool.engine,
        host=parts.hostname or LOOPBACK,
        port=parts.port or (443 if is_tls else 80),
        tls=is_tls,
        base_path=parts.path.rstrip("/"),
        engine_model=pool.engine_model,
        context_tokens=pool.context_tokens,
        api_key_env=pool.api_key_env,
    )
