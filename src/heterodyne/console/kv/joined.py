"""Pure: what several workers, or gateways, say of KV becomes one.

What is held is what the best informed says: each knows what it has sent, and hears of what others have. What happened
is the sum of what each has seen. A link is as fast as who has timed the most transfers over it found.
"""

from collections.abc import Iterable, Sequence
from math import isfinite, log
from typing import Final

from msgspec import structs

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
from heterodyne.routing.fabric.ledger import OFF_MAX

TOLD_REPLICAS_MAX: Final = 200  # to other gateways
TOLD_LINKS_MAX: Final = 50
TOLD_HOLDERS_MAX: Final = 20  # of one prefix
PREFIXES_MAX: Final = 20
OFF_LOG_MAX: Final = 1.01 * log(OFF_MAX)  # of one request that was withheld; a little more for rounding
AMOUNT_MAX: Final = 1e18


def joined(reports: Sequence[KvSeen]) -> KvSeen:
    """All of them together."""
    if len(reports) == 1:
        return reports[0]
    replicas: dict[str, KvReplicaSeen] = {}
    links: dict[tuple[str, str], KvLinkSeen] = {}
    origins: dict[str, KvOriginSeen] = {}
    stores: dict[str, KvStoreSeen] = {}
    prefixes: dict[tuple[str, str], KvPrefixSeen] = {}
    for report in reports:
        for replica in report.replicas:
            known = replicas.get(replica.id)
            replicas[replica.id] = replica if known is None else _replica(known, replica)
        for link in report.links:
            other = links.get((link.source, link.target))
            links[link.source, link.target] = link if other is None else _link(other, link)
        for name, origin in report.origins.items():
            before = origins.get(name)
            origins[name] = origin if before is None else _origin(before, origin)
        for name, store in report.stores.items():
            held = stores.get(name)
            stores[name] = store if held is None else _store(held, store)
        for prefix in report.prefixes:
            seen = prefixes.get((prefix.model, prefix.hash))
            prefixes[prefix.model, prefix.hash] = prefix if seen is None else _prefix(seen, prefix)
    return KvSeen(
        replicas=tuple(replicas.values()),
        links=tuple(sorted(links.values(), key=lambda one: -one.transfers)),
        origins=origins,
        stores=stores,
        prefixes=tuple(sorted(prefixes.values(), key=lambda one: -one.prompts * one.tokens)[:PREFIXES_MAX]),
        prefetches=_prefetches([report.prefetches for report in reports]),
    )


def told(report: KvSeen) -> KvSeen:
    """What other gateways are told: as much as a report bears."""
    replicas = sorted(report.replicas, key=lambda one: (-one.mix.prompts, -one.held_tokens))
    return structs.replace(
        report,
        replicas=tuple(replicas[:TOLD_REPLICAS_MAX]),
        links=report.links[:TOLD_LINKS_MAX],
        prefixes=tuple(structs.replace(one, held_by=one.held_by[:TOLD_HOLDERS_MAX]) for one in report.prefixes),
    )


def check_amounts(report: KvSeen) -> None:
    """Raises ValueError for what no gateway would say."""
    mixes = (structs.astuple(one.mix) for one in report.replicas)
    amounts: list[float] = [amount for mix in mixes for amount in mix]
    for replica in report.replicas:
        amounts += (replica.held_tokens, replica.held_tokens_max or 0, replica.token_bytes, replica.host_bytes)
        amounts += (replica.host_bytes_max, replica.trust)
    for link in report.links:
        amounts += (
            link.bytes_per_s,
            link.latency_ms,
            link.transfers,
            link.timed,
            link.failed,
            link.failing_share,
            link.paused_for_s,
        )
    for origin in report.origins.values():
        amounts += (origin.arrived, origin.failed, origin.byte_count, origin.tokens, origin.plain_s, origin.measured_s)
        amounts += (origin.withheld, abs(origin.usd), origin.withheld * OFF_LOG_MAX - abs(origin.off_log))
    for store in report.stores.values():
        amounts += structs.astuple(store)
    amounts += structs.astuple(report.prefetches)
    for prefix in report.prefixes:
        amounts += (prefix.tokens, prefix.prompts)
    if not (isfinite(sum(amounts)) and min(amounts, default=0) >= 0 and max(amounts, default=0) <= AMOUNT_MAX):
        raise ValueError("an amount of KV that cannot be")


def mix_of(mixes: Iterable[KvMix]) -> KvMix:
    """All of them together."""
    sums = [sum(column) for column in zip(*(structs.astuple(one) for one in mixes), strict=True)]
    return KvMix(**dict(zip(KvMix.__struct_fields__, sums, strict=True))) if sums else KvMix()


def _prefetches(reports: Sequence[KvPrefetchSeen]) -> KvPrefetchSeen:
    sums = [sum(column) for column in zip(*map(structs.astuple, reports), strict=True)]
    return (
        KvPrefetchSeen(**dict(zip(KvPrefetchSeen.__struct_fields__, sums, strict=True))) if sums else KvPrefetchSeen()
    )


def _replica(one: KvReplicaSeen, other: KvReplicaSeen) -> KvReplicaSeen:
    maxima = [limit for limit in (one.held_tokens_max, other.held_tokens_max) if limit is not None]
    return structs.replace(
        one,
        held_tokens=max(one.held_tokens, other.held_tokens),
        held_tokens_max=max(maxima, default=None),
        host_bytes=max(one.host_bytes, other.host_bytes),
        host_bytes_max=max(one.host_bytes_max, other.host_bytes_max),
        trust=min(one.trust, other.trust),
        mix=mix_of((one.mix, other.mix)),
    )


def _link(one: KvLinkSeen, other: KvLinkSeen) -> KvLinkSeen:
    return structs.replace(
        one if one.timed >= other.timed else other,
        transfers=one.transfers + other.transfers,
        timed=one.timed + other.timed,
        failed=one.failed + other.failed,
        paused_for_s=max(one.paused_for_s, other.paused_for_s),
    )


def _origin(one: KvOriginSeen, other: KvOriginSeen) -> KvOriginSeen:
    pairs = zip(KvOriginSeen.__struct_fields__, structs.astuple(one), structs.astuple(other), strict=True)
    return KvOriginSeen(**{name: left + right for name, left, right in pairs})


def _store(one: KvStoreSeen, other: KvStoreSeen) -> KvStoreSeen:
    pairs = zip(KvStoreSeen.__struct_fields__, structs.astuple(one), structs.astuple(other), strict=True)
    return KvStoreSeen(**{name: max(left, right) for name, left, right in pairs})


def _prefix(one: KvPrefixSeen, other: KvPrefixSeen) -> KvPrefixSeen:
    return structs.replace(
        one,
        tokens=max(one.tokens, other.tokens),
        prompts=one.prompts + other.prompts,
        held_by=tuple(sorted({*one.held_by, *other.held_by})),
    )
