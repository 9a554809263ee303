"""Where the replicas of a pool publish KV events, from what the pool says."""

from urllib.parse import urlsplit

from heterodyne.domain.kv_event import KvPublisher
from heterodyne.fleet.settings import PoolSettings

HOST = "{host}"  # stands for the host of a replica's URL


def kv_publishers(pool: PoolSettings, index: int) -> tuple[KvPublisher, ...]:
    """One for each rank of the replica at this place of the pool's URLs; none where the pool says nothing of it."""
    if not pool.kv_events:
        return ()
    host = urlsplit(pool.urls[index]).hostname or ""
    endpoint = _of(pool.kv_events, index, host)
    replay = _of(pool.kv_events_replay, index, host) if pool.kv_events_replay else None
    return tuple(
        KvPublisher(endpoint=_above(endpoint, rank), replay=None if replay is None else _above(replay, rank))
        for rank in range(pool.kv_events_ranks)
    )


def _of(endpoints: tuple[str, ...], index: int, host: str) -> str:
    """One for all, or one for each."""
    chosen = endpoints[0] if len(endpoints) == 1 else endpoints[index]
    return chosen.replace(HOST, f"[{host}]" if ":" in host else host)


def _above(endpoint: str, rank: int) -> str:
    before, _, port = endpoint.rpartition(":")
    return f"{before}:{int(port) + rank}"
