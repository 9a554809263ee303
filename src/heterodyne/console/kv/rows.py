"""Pure: the page about KV, of what was seen, the fleet as it stands, and what the settings say."""

from collections.abc import Mapping, Sequence
from math import exp
from typing import Final

from heterodyne.console.kv.joined import PREFIXES_MAX, mix_of
from heterodyne.console.kv.pages import (
    KvLinkRow,
    KvOriginRow,
    KvPage,
    KvPoolRow,
    KvPrefixRow,
    KvReplicaRow,
    KvStoreRow,
)
from heterodyne.domain.fleet import Replica
from heterodyne.domain.kv_origin import KvOrigin
from heterodyne.domain.kv_seen import WINDOW_MIN, KvLinkSeen, KvOriginSeen, KvReplicaSeen, KvSeen
from heterodyne.domain.routing_rule import KvStrategy
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.routing.fabric.ledger import CHECKS_MIN
from heterodyne.routing.fabric.sides import MOVING

REPLICAS_MAX: Final = 100
LINKS_MAX: Final = 50
GB: Final = 1e9


def kv_page(
    seen: KvSeen | None,
    *,
    replicas: Sequence[Replica],
    engine_shares: Mapping[str, float],
    strategies: Mapping[str, KvStrategy],
    stores: Mapping[str, KvStoreSettings],
    gateways: int,
    at: float,
) -> KvPage:
    """`engine_shares` are of KV memory in use, by replica; `strategies` by model; None: nobody looks at prompts."""
    told = KvSeen() if seen is None else seen
    by_id = {one.id: one for one in replicas}
    known = [(one, by_id[one.id]) for one in told.replicas if one.id in by_id]
    known.sort(key=lambda pair: (-pair[0].mix.prompts, -pair[0].held_tokens, pair[0].id))
    return KvPage(
        at=at,
        window_s=WINDOW_MIN * 60,
        is_on=seen is not None,
        is_moving=any(strategy in MOVING for strategy in strategies.values()),
        gateways=gateways,
        mix=mix_of(one.mix for one, _ in known),
        pools=_pools(known, strategies),
        replicas=tuple(_replica(one, replica, engine_shares) for one, replica in known[:REPLICAS_MAX]),
        replicas_left_out=max(0, len(known) - REPLICAS_MAX),
        stores=_stores(told, stores, replicas),
        links=tuple(_link(one, at) for one in told.links[:LINKS_MAX]),
        links_left_out=max(0, len(told.links) - LINKS_MAX),
        origins=tuple(_origin(word, told.origins[word]) for word in KvOrigin if word in told.origins),
        prefixes=tuple(
            KvPrefixRow(model=one.model, hash=one.hash, tokens=one.tokens, prompts=one.prompts, held_by=one.held_by)
            for one in told.prefixes[:PREFIXES_MAX]
        ),
        prefetches=told.prefetches,
    )


def _pools(
    known: Sequence[tuple[KvReplicaSeen, Replica]], strategies: Mapping[str, KvStrategy]
) -> tuple[KvPoolRow, ...]:
    by_pool: dict[str, list[tuple[KvReplicaSeen, Replica]]] = {}
    for one, replica in known:
        by_pool.setdefault(replica.pool, []).append((one, replica))
    return tuple(_pool([one for one, _ in rows], rows[0][1], strategies) for _, rows in sorted(by_pool.items()))


def _pool(rows: Sequence[KvReplicaSeen], first: Replica, strategies: Mapping[str, KvStrategy]) -> KvPoolRow:
    limits = [one.held_tokens_max for one in rows]
    return KvPoolRow(
        pool=first.pool,
        model=first.model,
        strategy=strategies.get(first.model, KvStrategy.PREFIX).value,
        role=first.role.value,
        transfer=first.kv_transfer,
        store=first.kv_store,
        replicas=len(rows),
        held_tokens=sum(one.held_tokens for one in rows),
        held_tokens_max=None if None in limits else round(sum(limit for limit in limits if limit is not None)),
        held_bytes=sum(one.held_tokens * one.token_bytes for one in rows),
        host_bytes=sum(one.host_bytes for one in rows),
        host_bytes_max=sum(one.host_bytes_max for one in rows),
        mix=mix_of(one.mix for one in rows),
    )


def _replica(one: KvReplicaSeen, replica: Replica, engine_shares: Mapping[str, float]) -> KvReplicaRow:
    return KvReplicaRow(
        id=one.id,
        pool=replica.pool,
        held_tokens=one.held_tokens,
        held_tokens_max=None if one.held_tokens_max is None else round(one.held_tokens_max),
        held_bytes=one.held_tokens * one.token_bytes,
        engine_share=engine_shares.get(one.id),
        host_bytes=one.host_bytes,
        host_bytes_max=one.host_bytes_max,
        trust=one.trust,
        mix=one.mix,
    )


def _stores(seen: KvSeen, stores: Mapping[str, KvStoreSettings], replicas: Sequence[Replica]) -> tuple[KvStoreRow, ...]:
    rows = []
    for name, one in seen.stores.items():
        settings = stores.get(name)
        if settings is None:
            continue
        rows.append(
            KvStoreRow(
                store=name,
                medium=settings.medium,
                held_bytes=one.byte_count,
                capacity_bytes=settings.capacity_gb * GB,
                pinned_bytes=one.pinned_bytes,
                blocks=one.blocks,
                files=one.files,
                file_bytes=one.file_bytes,
                pools=tuple(sorted({replica.pool for replica in replicas if replica.kv_store == name})),
            )
        )
    return tuple(rows)


def _link(one: KvLinkSeen, at: float) -> KvLinkRow:
    return KvLinkRow(
        source=one.source,
        target=one.target,
        bytes_per_s=one.bytes_per_s,
        latency_ms=one.latency_ms,
        transfers=one.transfers,
        timed=one.timed,
        failed=one.failed,
        failing_share=one.failing_share,
        paused_until_at=at + one.paused_for_s if one.paused_for_s > 0.0 else None,
    )


def _origin(word: KvOrigin, one: KvOriginSeen) -> KvOriginRow:
    """Corrected by all that were withheld, as far as those are enough to correct by."""
    off_ratio = exp(one.off_log / one.withheld) if one.withheld >= CHECKS_MIN else None
    return KvOriginRow(
        origin=word.value,
        arrived=one.arrived,
        failed=one.failed,
        byte_count=one.byte_count,
        tokens=one.tokens,
        saved_s=one.plain_s * (1.0 if off_ratio is None else off_ratio) - one.measured_s,
        saved_usd=one.usd,
        withheld=one.withheld,
        off_ratio=off_ratio,
    )
