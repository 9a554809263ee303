"""What several workers and gateways say of KV becomes one."""

from math import log

import pytest
from msgspec import structs

from heterodyne.console.kv.joined import TOLD_REPLICAS_MAX, check_amounts, joined, told
from heterodyne.console.kv.pages import KvPage
from heterodyne.console.kv.rows import LINKS_MAX, REPLICAS_MAX, kv_page
from heterodyne.domain.fleet import Replica, ReplicaId
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
from heterodyne.fleet.kv_settings import KvStoreSettings
from tests.support.replica_states import replica

REPLICA = KvReplicaSeen(
    id=ReplicaId("a"),
    held_tokens=100,
    held_tokens_max=1000.0,
    token_bytes=10.0,
    host_bytes=0.0,
    host_bytes_max=0,
    trust=0.9,
    mix=KvMix(prompts=2, computed=60, own=40),
)
LINK = KvLinkSeen(
    source="p",
    target="q",
    bytes_per_s=1e9,
    latency_ms=5.0,
    transfers=3,
    timed=2,
    failed=1,
    failing_share=0.1,
    paused_for_s=0.0,
)
ORIGIN = KvOriginSeen(
    arrived=3,
    failed=1,
    byte_count=30.0,
    tokens=3.0,
    plain_s=10.0,
    measured_s=4.0,
    usd=-0.5,
    withheld=10,
    off_log=10 * log(0.5),
)
STORE = KvStoreSeen(byte_count=5.0, pinned_bytes=1.0, blocks=2, files=1, file_bytes=7)
PREFIX = KvPrefixSeen(model="m", hash="ab", tokens=64, prompts=3.0, held_by=(ReplicaId("a"),))
SEEN = KvSeen(
    replicas=(REPLICA,), links=(LINK,), origins={"peer": ORIGIN}, stores={"shared": STORE}, prefixes=(PREFIX,)
)


def page_of(seen: KvSeen | None, *replicas: Replica, kv: KvStrategy = KvStrategy.AUTO) -> KvPage:
    return kv_page(
        seen,
        replicas=replicas or (replica("a"),),
        engine_shares={"a": 0.25},
        strategies={"m": kv},
        stores={"shared": KvStoreSettings(medium="memory", capacity_gb=1.0)},
        gateways=1,
        at=1000.0,
    )


def test_what_is_held_is_not_counted_twice_and_what_happened_is_added() -> None:
    other = KvSeen(
        replicas=(structs.replace(REPLICA, held_tokens=150, trust=0.5, mix=KvMix(prompts=1, peer=50)),),
        links=(structs.replace(LINK, bytes_per_s=2e9, timed=9, transfers=10, paused_for_s=4.0),),
        origins={"peer": ORIGIN, "store": ORIGIN},
        stores={"shared": structs.replace(STORE, byte_count=8.0, files=0)},
        prefixes=(structs.replace(PREFIX, held_by=(ReplicaId("b"),)),),
    )
    whole = joined([SEEN, other])
    [one] = whole.replicas
    assert (one.held_tokens, one.trust) == (150, 0.5)
    assert one.mix == KvMix(prompts=3, computed=60, own=40, peer=50)
    [link] = whole.links
    assert (link.bytes_per_s, link.transfers, link.timed, link.failed, link.paused_for_s) == (2e9, 13, 11, 2, 4.0)
    assert (whole.origins["peer"].arrived, whole.origins["peer"].withheld, whole.origins["store"]) == (6, 20, ORIGIN)
    assert (whole.stores["shared"].byte_count, whole.stores["shared"].files) == (8.0, 1)
    [prefix] = whole.prefixes
    assert (prefix.prompts, prefix.held_by) == (6.0, ("a", "b"))
    assert joined([SEEN]) is SEEN


def test_savings_are_corrected_once_enough_requests_were_withheld() -> None:
    few = page_of(SEEN).origins[0]
    assert (few.saved_s, few.off_ratio, few.saved_usd) == (6.0, None, -0.5)
    enough = page_of(joined([SEEN, SEEN])).origins[0]
    assert enough.off_ratio == pytest.approx(0.5)
    assert enough.saved_s == pytest.approx(20.0 * 0.5 - 8.0)


def test_a_page_has_pools_of_all_their_replicas_and_says_what_it_leaves_out() -> None:
    count = REPLICAS_MAX + 5
    many = [replica(f"r{number}") for number in range(count)]
    seen = KvSeen(
        replicas=tuple(structs.replace(REPLICA, id=one.id) for one in many),
        links=tuple(structs.replace(LINK, source=f"p{number}") for number in range(LINKS_MAX + 3)),
    )
    page = page_of(seen, *many)
    [pool] = page.pools
    assert (pool.replicas, pool.held_tokens, pool.held_tokens_max) == (count, 100 * count, 1000 * count)
    assert (len(page.replicas), page.replicas_left_out) == (REPLICAS_MAX, 5)
    assert (len(page.links), page.links_left_out) == (LINKS_MAX, 3)
    assert page.mix.own == 40 * count


def test_replicas_that_have_left_and_stores_that_are_not_set_any_more_are_not_shown() -> None:
    seen = structs.replace(
        SEEN, replicas=(REPLICA, structs.replace(REPLICA, id=ReplicaId("gone"))), stores={"old": STORE}
    )
    page = page_of(seen)
    assert ([row.id for row in page.replicas], page.stores) == (["a"], ())
    assert (page.replicas[0].engine_share, page.replicas[0].held_bytes) == (0.25, 1000.0)


def test_a_pause_is_told_as_a_moment() -> None:
    paused = structs.replace(SEEN, links=(structs.replace(LINK, paused_for_s=8.0),))
    assert page_of(paused).links[0].paused_until_at == 1008.0
    assert page_of(SEEN).links[0].paused_until_at is None


@pytest.mark.parametrize(("kv", "is_moving"), [(KvStrategy.PREFIX, False), (KvStrategy.STORE, True)])
def test_without_reports_kv_is_off_and_prefix_alone_moves_nothing(kv: KvStrategy, *, is_moving: bool) -> None:
    assert (page_of(None, kv=kv).is_on, page_of(SEEN, kv=kv).is_on) == (False, True)
    assert page_of(SEEN, kv=kv).is_moving is is_moving


def test_other_gateways_are_told_of_the_busiest_replicas() -> None:
    many = [structs.replace(REPLICA, id=ReplicaId(f"r{n}"), mix=KvMix(prompts=n)) for n in range(300)]
    report = told(KvSeen(replicas=tuple(many)))
    assert (len(report.replicas), report.replicas[0].id) == (TOLD_REPLICAS_MAX, "r299")


@pytest.mark.parametrize(
    "bad",
    [
        structs.replace(SEEN, links=(structs.replace(LINK, bytes_per_s=-1.0),)),
        structs.replace(SEEN, origins={"peer": structs.replace(ORIGIN, usd=float("nan"))}),
        structs.replace(SEEN, origins={"peer": structs.replace(ORIGIN, off_log=1e6)}),
        structs.replace(SEEN, replicas=(structs.replace(REPLICA, held_tokens=10**19),)),
    ],
)
def test_amounts_that_no_gateway_would_tell_are_refused(bad: KvSeen) -> None:
    check_amounts(SEEN)
    with pytest.raises(ValueError, match="cannot be"):
        check_amounts(bad)


def test_what_was_brought_ahead_is_added_and_told() -> None:
    one, other = KvPrefetchSeen(taken=2, wasted=1), KvPrefetchSeen(taken=3, failed=4)
    whole = joined([KvSeen(prefetches=one), KvSeen(prefetches=other)])
    assert whole.prefetches == KvPrefetchSeen(taken=5, wasted=1, failed=4)
    assert page_of(whole).prefetches == whole.prefetches
    assert joined([]).prefetches == KvPrefetchSeen()
    with pytest.raises(ValueError, match="amount"):
        check_amounts(KvSeen(prefetches=KvPrefetchSeen(taken=-1)))
