"""What a worker tells of KV: what is held, what moved, what that was worth, where prompts came from."""

from types import SimpleNamespace
from typing import Any, cast

from msgspec import structs

from heterodyne.domain.fleet import FleetSnapshot, ModelRule
from heterodyne.domain.kv_origin import KvLoss
from heterodyne.domain.kv_seen import WINDOW_MIN, KvMix
from heterodyne.domain.routing_rule import KvStrategy, RoutingRule
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.gateway.kv.hot_prefixes import HotPrefixes
from heterodyne.gateway.kv_report import kv_seen, looks_at_prompts
from heterodyne.gateway.kv_tally import KvTally
from tests.support.kv_fleets import KvFleet, asked, copying
from tests.support.replica_states import fleet, replica

STORES = {"shared": KvStoreSettings(medium="memory", capacity_gb=10.0)}


def ended(replica: str, prompt: int, cached: int = 0) -> Any:
    return SimpleNamespace(replica=replica, prompt_tokens=prompt, cached_tokens=cached)


def finished(plan: object = None, tokens: int = 0) -> Any:
    kv = None if plan is None else SimpleNamespace(plan=plan, tokens=tokens)
    return SimpleNamespace(kv=kv)


def moved() -> tuple[KvFleet, Any]:
    """One replica has the prompt and is busy, so it is fetched by the other."""
    one = KvFleet(copying("a", kv_store="shared"), copying("b", kv_store="shared"), stores=STORES)
    one.serve(asked(), "a")
    one.occupy("a")
    choice = one.decide(asked())
    assert choice.kv_plan is not None
    return one, choice.kv_plan


def test_tokens_are_counted_by_where_they_came_from() -> None:
    one, plan = moved()
    tally = KvTally(one.router.fabric.token_bytes)
    brought = round(plan.byte_count / one.router.fabric.token_bytes(plan.forecast.state))
    tally.ended(finished(), ended("a", 1000, 400), 0.0)
    tally.ended(finished(plan, tokens=brought), ended("b", 20_000, 19_999), 30.0)
    tally.ended(finished(plan, tokens=0), ended("b", 100), 30.0)  # it did not come
    tally.ended(finished(), ended("", 100), 30.0)  # no replica was asked
    mixes = tally.mixes(31.0)
    assert mixes[cast(Any, "a")] == KvMix(prompts=1, computed=600, own=400)
    mix = mixes[cast(Any, "b")]
    assert (mix.prompts, getattr(mix, plan.origin.value)) == (2, brought)
    assert mix.computed + mix.own + brought == 20_100


def test_what_is_older_than_the_window_is_forgotten() -> None:
    tally = KvTally(lambda _: 1.0)
    for minute in range(10):
        tally.ended(finished(), ended("a", 10), minute * 60.0)
    assert tally.mixes(9 * 60.0)[cast(Any, "a")].prompts == WINDOW_MIN
    assert tally.mixes(11 * 60.0)[cast(Any, "a")].prompts == WINDOW_MIN - 2
    assert tally.mixes(60 * 60.0) == {}


def test_a_transfer_and_what_it_was_worth_are_told() -> None:
    one, plan = moved()
    request = asked()
    router = one.router
    ticket = router.start(request, plan.forecast, one.now_s, plan)
    ticket.kv_arrived(one.now_s + 0.2, plan.byte_count)
    ticket.first_token(one.now_s + 0.3)
    ticket.end(one.now_s + 0.3, output_tokens=1)
    failed = router.start(request, plan.forecast, one.now_s + 0.3, plan)
    failed.kv_failed(one.now_s + 0.5, KvLoss.BROKEN)
    seen = kv_seen(router, one.fleet, KvTally(router.fabric.token_bytes), files={}, prefixes=(), now_s=one.now_s + 0.5)
    by_id = {replica.id: replica for replica in seen.replicas}
    assert by_id[cast(Any, "a")].held_tokens >= 19_000
    [link] = seen.links
    assert (link.transfers, link.timed, link.failed) == (2, 1, 1)
    assert link.paused_for_s > 0.0
    assert link.bytes_per_s > 0.0
    assert seen.origins[plan.origin.value].arrived == 1
    assert seen.stores["shared"].byte_count > 0.0


async def test_what_many_prompts_begin_with_is_told_as_a_hash_with_who_holds_it() -> None:
    one = KvFleet(copying("a"), copying("b"))
    one.serve(asked(), "a", times=3)
    prefixes = HotPrefixes(one.router, lambda: one.now_s)
    await prefixes.look()
    assert prefixes.latest == (), "nobody looks at prompts"
    prefixes.is_on = True
    await prefixes.look()
    [hot] = prefixes.latest
    assert (hot.model, hot.held_by) == ("m", ("a",))
    assert hot.tokens > 10_000
    assert 2.0 < hot.prompts <= 3.0
    assert len(hot.hash) == 12


def test_models_whose_prompts_nobody_looks_at_are_not_told() -> None:
    stateless = {"m": ModelRule(routing=RoutingRule(kv=KvStrategy.STATELESS))}
    assert not looks_at_prompts([replica("a")], stateless)
    assert looks_at_prompts([replica("a"), structs.replace(replica("b"), model="n")], stateless)
    snapshot: FleetSnapshot = fleet(replica("a"), rule=RoutingRule(kv=KvStrategy.STATELESS))
    one = KvFleet(replica("a"))
    tally = KvTally(one.router.fabric.token_bytes)
    assert kv_seen(one.router, snapshot, tally, files={}, prefixes=(), now_s=0.0).replicas == ()
