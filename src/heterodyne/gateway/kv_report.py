"""What a worker tells of KV: made when it says what it sees of the fleet, off the request path."""

from collections.abc import Iterable, Mapping
from math import inf
from typing import Final

from heterodyne.domain.fleet import FleetSnapshot, ModelRule, Replica
from heterodyne.domain.kv_seen import (
    KvLinkSeen,
    KvMix,
    KvOriginSeen,
    KvPrefetchSeen,
    KvPrefixSeen,
    KvReplicaSeen,
    KvSeen,
    KvStoreSeen,
)
from heterodyne.domain.routing_rule import KvStrategy
from heterodyne.gateway.kv.slot_files import SlotFiles
from heterodyne.gateway.kv_tally import NOTHING, KvTally
from heterodyne.routing.fabric.fabric import KvFabric
from heterodyne.routing.router import Router

REPLICAS_MAX: Final = 1000
LINKS_MAX: Final = 200
STORES_MAX: Final = 100
NO_RULE: Final = ModelRule()
NO_PREFETCHES: Final = KvPrefetchSeen()


def looks_at_prompts(replicas: Iterable[Replica], rules: Mapping[str, ModelRule]) -> bool:
    """Whether there is anything to tell."""
    return any(_is_looked_at(replica, rules) for replica in replicas)


def kv_seen(
    router: Router,
    fleet: FleetSnapshot,
    tally: KvTally,
    *,
    files: Mapping[str, SlotFiles],
    prefixes: tuple[KvPrefixSeen, ...],
    now_s: float,
    prefetches: KvPrefetchSeen = NO_PREFETCHES,
) -> KvSeen:
    """As of now."""
    mixes = tally.mixes(now_s)
    replicas = [replica for replica in fleet.replicas if _is_looked_at(replica, fleet.rules)]
    if len(replicas) > REPLICAS_MAX:
        replicas = sorted(replicas, key=lambda one: -mixes.get(one.id, NOTHING).prompts)[:REPLICAS_MAX]
    fabric = router.fabric
    return KvSeen(
        replicas=tuple(_replica(router, replica, mixes.get(replica.id, NOTHING)) for replica in replicas),
        links=_links(fabric, now_s),
        origins=_origins(fabric),
        stores=_stores(fabric, files),
        prefixes=prefixes,
        prefetches=prefetches,
    )


def _is_looked_at(replica: Replica, rules: Mapping[str, ModelRule]) -> bool:
    return rules.get(replica.model, NO_RULE).routing.kv is not KvStrategy.STATELESS


def _replica(router: Router, replica: Replica, mix: KvMix) -> KvReplicaSeen:
    state = router.state(replica.id)
    assert state is not None, "a fleet is published to all at once"
    fabric = router.fabric
    return KvReplicaSeen(
        id=replica.id,
        held_tokens=router.index.tokens(state.place),
        held_tokens_max=None if state.kv_tokens == inf else state.kv_tokens,
        token_bytes=fabric.token_bytes(state),
        host_bytes=fabric.host_bytes(state),
        host_bytes_max=replica.kv_host_bytes,
        trust=state.trust,
        mix=mix,
    )


def _links(fabric: KvFabric, now_s: float) -> tuple[KvLinkSeen, ...]:
    """Those that were used, the most used first."""
    used = [(ends, link) for ends, link in fabric.links.snapshot().items() if link.begun]
    used.sort(key=lambda pair: -pair[1].begun)
    told = []
    for (source, target), link in used[:LINKS_MAX]:
        latency_s, byte_s = link.speed(now_s)
        told.append(
            KvLinkSeen(
                source=source,
                target=target,
                bytes_per_s=1.0 / max(1e-15, byte_s),
                latency_ms=latency_s * 1000,
                transfers=link.begun,
                timed=link.samples,
                failed=link.failed,
                failing_share=link.failing(now_s),
                paused_for_s=max(0.0, link.paused_until_s - now_s),
            )
        )
    return tuple(told)


def _origins(fabric: KvFabric) -> dict[str, KvOriginSeen]:
    return {
        origin.value: KvOriginSeen(
            arrived=saved.arrived,
            failed=saved.failed,
            byte_count=saved.byte_count,
            tokens=saved.tokens,
            plain_s=saved.plain_s,
            measured_s=saved.measured_s,
            usd=saved.usd,
            withheld=saved.checked,
            off_log=saved.off_log,
        )
        for origin, saved in fabric.ledger.by_origin.items()
        if saved.arrived or saved.failed or saved.checked
    }


def _stores(fabric: KvFabric, files: Mapping[str, SlotFiles]) -> dict[str, KvStoreSeen]:
    told = {}
    for name, tier in list(fabric.tiers().items())[:STORES_MAX]:
        folder = files.get(name)
        told[name] = KvStoreSeen(
            byte_count=tier.byte_count,
            pinned_bytes=tier.pinned_bytes,
            blocks=tier.entries,
            files=0 if folder is None else len(folder.keys()),
            file_bytes=0 if folder is None else folder.bytes,
        )
    return told
