"""Where the KV of a prompt comes from is a part of the choice: taken where it pays, and never where it does not."""

import pytest
from msgspec import structs

from heterodyne.domain.fleet import ReplicaId
from heterodyne.domain.kv_origin import KvOrigin
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.domain.routing_rule import KvStrategy, RoutingRule
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.routing.kv.chain import EMPTY
from heterodyne.routing.prediction.prior import Prior
from tests.support.kv_fleets import LINKED, PROMPT_TOKENS, KvFleet, asked, copying, decoding, prefilling
from tests.support.replica_states import fleet

AUTO, STORE, SPLIT, PREFIX = KvStrategy.AUTO, KvStrategy.STORE, KvStrategy.SPLIT, KvStrategy.PREFIX
SLOW = structs.replace(LINKED, kv_link_bytes_per_s=0.2e9)
WEAK = structs.replace(LINKED, prompt_token_s=1e-3)  # ten times as long for a prompt
QUICK = structs.replace(LINKED, prompt_token_s=1e-5)
SHARED = KvStoreSettings(medium="memory", capacity_gb=100.0)


def test_a_prompt_goes_where_it_is_warm_while_that_is_quickest() -> None:
    one = KvFleet(copying("a"), copying("b"))
    one.serve(asked(), "a")
    choice = one.decide(asked())
    assert (choice.target.id, choice.kv_plan) == ("a", None)


def test_a_busy_holder_sends_its_kv_to_a_free_replica() -> None:
    one = KvFleet(copying("a"), copying("b"))
    one.serve(asked(), "a")
    one.occupy("a")
    choice = one.decide(asked())
    plan = choice.kv_plan
    assert plan is not None
    assert choice.target.id == "b"
    assert (plan.origin, plan.source and plan.source.replica.id) == (KvOrigin.PEER, "a")
    assert plan.tokens > 0.9 * PROMPT_TOKENS
    assert plan.byte_count == pytest.approx(plan.tokens * 1e5)
    assert 0.1 < plan.takes_s < 0.15
    assert plan.saved_s > 1.0


@pytest.mark.parametrize(
    "facts",
    [
        {"kv_layout": "M"},
        {"kv_layout": ""},
        {"kv_transfer": ""},
        {"kv_transfer": "lmcache"},
    ],
)
def test_replicas_whose_kv_is_not_alike_exchange_none(facts: dict[str, object]) -> None:
    one = KvFleet(copying("a"), copying("b", "q", **facts))
    one.serve(asked(), "a")
    one.occupy("a")
    assert one.decide(asked()).kv_options == ()


@pytest.mark.parametrize("kv", [PREFIX, KvStrategy.STATELESS, KvStrategy.STICKY, SPLIT])
def test_only_the_strategies_that_say_so_bring_what_is_held(kv: KvStrategy) -> None:
    one = KvFleet(copying("a"), copying("b"), kv=kv)
    one.serve(asked(), "a")
    one.occupy("a")
    assert one.decide(asked()).kv_plan is None


def test_over_a_slow_link_it_is_computed_again() -> None:
    one = KvFleet(copying("a"), copying("b"), priors={"p": SLOW})
    one.serve(asked(), "a")
    one.occupy("a", prompts=6)
    choice = one.decide(asked())
    assert (choice.target.id, choice.kv_plan) == ("b", None)


def test_a_link_that_turns_out_slow_is_left_and_a_broken_one_too() -> None:
    one = KvFleet(copying("a"), copying("b"))
    one.serve(asked(), "a")
    one.occupy("a", prompts=6)
    choice = one.decide(asked())
    assert choice.kv_plan is not None
    ticket = one.router.start(asked(), choice.forecast, one.now_s, choice.kv_plan)
    ticket.kv_failed(one.now_s + 0.1)
    assert one.router.decide(asked(), one.fleet.by_model["m"], one.now_s + 0.2).kv_plan is None
    ticket.end(one.now_s + 0.3, output_tokens=0, is_complete=False)
    assert one.router.decide(asked(), one.fleet.by_model["m"], one.now_s + 5.0).kv_plan is not None
    for _ in range(5):
        one.router.fabric.links.hear("p", "p", 1e9, 50.0, one.now_s + 1.0)
    assert one.router.decide(asked(), one.fleet.by_model["m"], one.now_s + 5.0).kv_plan is None


def test_transfers_wait_for_those_of_the_same_sender() -> None:
    one = KvFleet(copying("a"), copying("b"))
    one.serve(asked(), "a")
    one.occupy("a", prompts=6)
    times = []
    for _ in range(3):
        choice = one.decide(asked())
        assert choice.kv_plan is not None
        times.append(choice.kv_plan.takes_s)
        one.router.start(asked(words=b"y"), choice.forecast, one.now_s, choice.kv_plan)
    assert times[0] + 0.08 < times[1] < times[2] - 0.08


def test_a_shared_store_has_what_any_of_its_replicas_computed() -> None:
    one = KvFleet(
        copying("a", kv_store="s"), copying("b", kv_store="s", kv_transfer=""), stores={"s": SHARED}, kv=STORE
    )
    one.serve(asked(), "a")
    one.occupy("a")
    plan = one.decide(asked()).kv_plan
    assert plan is not None
    assert (plan.origin, plan.store, plan.source) == (KvOrigin.STORE, "s", None)


def test_a_host_brings_back_what_its_replica_has_forgotten() -> None:
    one = KvFleet(copying("a", kv_host_bytes=10**11), copying("b", kv_host_bytes=10**11))
    one.serve(asked(), "a")
    one.router._index.forget(0)
    plan = one.decide(asked()).kv_plan
    assert plan is not None
    assert (plan.origin, plan.forecast.state.replica.id) == (KvOrigin.HOST, "a")


def test_a_prefill_replica_never_answers() -> None:
    one = KvFleet(prefilling(), decoding("d1"), decoding("d2"), copying("whole"))
    assert {each.id for each in one.fleet.by_model["m"]} == {"d1", "d2", "whole"}
    assert KvFleet(prefilling()).fleet.by_model == {}


def test_a_long_prompt_is_computed_by_one_and_answered_by_another_when_that_is_sooner() -> None:
    one = KvFleet(prefilling(), decoding("d1"), decoding("d2"), priors={"prompts": QUICK})
    choice = one.decide(asked())
    plan = choice.kv_plan
    assert plan is not None
    assert plan.prefill is not None
    assert (plan.origin, plan.prefill.state.replica.id) == (KvOrigin.PREFILL, "prompts")
    assert plan.takes_s == pytest.approx(plan.prefill.ttft_s + 0.026 + 0.1, rel=0.05)
    assert choice.forecast.usd >= plan.prefill.usd


@pytest.mark.parametrize(
    "elsewhere", [{"region": "us"}, {"region": "eu", "kv_store": "s", "kv_store_regions": ("us",)}]
)
def test_a_prompt_that_is_held_to_regions_is_computed_and_fetched_in_them(elsewhere: dict[str, object]) -> None:
    quick = structs.replace(LINKED, prompt_token_s=1e-5)
    here = decoding("d1", region="eu")
    split = KvFleet(prefilling(**elsewhere), here, priors={"prompts": quick})
    assert split.decide(asked()).kv_plan is not None
    assert split.decide(asked(regions=frozenset(("eu",)))).kv_options == ()
    peers = KvFleet(copying("a", **elsewhere), copying("b", region="eu"))
    peers.serve(asked(), "a")
    peers.occupy("a")
    assert peers.decide(asked()).kv_plan is not None
    own = next(one for one in peers.fleet.replicas if one.id == "b")
    choice = peers.router.decide(asked(regions=frozenset(("eu",))), (own,), peers.now_s)
    assert (choice.target.id, choice.kv_options) == ("b", ())


@pytest.mark.parametrize("tokens", [10, 300])
def test_short_prompts_skip_the_split(tokens: int) -> None:
    one = KvFleet(prefilling(), decoding("d1"), decoding("d2"), priors={"prompts": QUICK})
    choice = one.decide(asked(tokens))
    assert choice.kv_plan is None
    assert choice.target.role is ReplicaRole.DECODE


def test_warm_prefixes_skip_the_split() -> None:
    one = KvFleet(prefilling(), decoding("d1"), decoding("d2"), priors={"prompts": QUICK})
    one.serve(asked(), "d1")
    choice = one.decide(asked())
    assert (choice.target.id, choice.kv_plan) == ("d1", None)


def test_a_decode_replica_computes_no_long_prompt_where_others_can() -> None:
    one = KvFleet(decoding("d1"), decoding("d2"), copying("whole"))
    one.occupy("whole", prompts=5)
    assert one.decide(asked()).target.id == "whole"
    alone = KvFleet(decoding("d1"), decoding("d2"))
    assert alone.decide(asked()).target.role is ReplicaRole.DECODE


def test_a_decode_replica_answers_what_it_has_nearly_all_of() -> None:
    one = KvFleet(decoding("d1"), decoding("d2"), copying("whole"))
    one.serve(asked(), "d1")
    choice = one.decide(asked())
    assert (choice.target.id, choice.kv_plan) == ("d1", None)


def test_engines_that_only_hand_over_have_the_warm_one_compute_the_rest() -> None:
    one = KvFleet(copying("a", kv_transfer="nixl"), copying("b", kv_transfer="nixl"))
    one.serve(asked(), "a")
    tail = asked(PROMPT_TOKENS + 40)
    for request in [asked(words=b"other")] * 12:  # decoding there, which leaves no room for its answer
        one.router.start(request, one.router.forecast(request, one.fleet.replicas[0].id, one.now_s), one.now_s)
    choice = one.router.try_dry_run(tail, one.fleet.by_model["m"], one.now_s)
    assert choice is not None
    plans = {(plan.origin, plan.source and plan.source.replica.id) for plan in choice.kv_options}
    assert plans == {(KvOrigin.PREFILL, "a")}


def test_prefill_replicas_that_drain_are_given_nothing() -> None:
    one = KvFleet(prefilling(is_draining=True), decoding("d1"), decoding("d2"), priors={"prompts": QUICK})
    assert one.decide(asked()).kv_plan is None


def test_a_replica_that_drains_may_still_be_asked_for_what_it_holds() -> None:
    one = KvFleet(copying("a"), copying("b"), copying("c"))
    one.serve(asked(), "a")
    drained = fleet(copying("a", is_draining=True), copying("b"), copying("c"), rule=RoutingRule(kv=AUTO))
    one.router.publish(drained, one.now_s)
    usable = [each for each in drained.by_model["m"] if not each.is_draining]
    plan = one.router.decide(asked(), usable, one.now_s).kv_plan
    assert plan is not None
    assert plan.source is not None
    assert plan.source.replica.id == "a"


def test_the_cheapest_origin_is_taken_where_cost_decides() -> None:
    facts: dict[str, object] = {"usd_per_hour": 4.0}
    one = KvFleet(copying("a", **facts), copying("b", **facts), policy="cost")
    one.serve(asked(), "a")
    one.occupy("a")
    choice = one.decide(asked())
    assert choice.kv_plan is None or choice.kv_plan.saved_usd > 0.0


def test_one_usable_replica_may_still_be_brought_kv() -> None:
    one = KvFleet(copying("a"), copying("b"))
    one.serve(asked(), "a")
    plan = one.router.decide(asked(), one.fleet.by_model["m"][1:], one.now_s).kv_plan
    assert plan is not None
    assert plan.origin is KvOrigin.PEER


def test_a_replica_that_drains_still_gives_what_it_holds() -> None:
    one = KvFleet(copying("a"), copying("b"))
    one.serve(asked(), "a")
    leaving = fleet(copying("a", is_draining=True), copying("b"), rule=RoutingRule(kv=AUTO))
    one.router.publish(leaving, one.now_s)
    choice = one.router.decide(asked(), [leaving.replicas[1]], one.now_s)
    assert choice.target.id == "b"
    assert choice.kv_plan is not None
    assert choice.kv_plan.source is not None
    assert choice.kv_plan.source.replica.id == "a"


def test_a_prefill_replica_that_is_out_computes_nothing() -> None:
    one = KvFleet(prefilling("quick"), prefilling("slow"), decoding(), priors={"answers": WEAK})
    one.occupy("slow")
    request = asked()
    chosen = one.decide(request).kv_plan
    assert chosen is not None
    assert chosen.source is not None
    assert chosen.source.replica.id == "quick"
    request.prefill_out = frozenset({ReplicaId("quick")})
    other = one.decide(request)
    assert [plan.source and plan.source.replica.id for plan in other.kv_options] in ([], ["slow"])
    request.prefill_out = frozenset({ReplicaId("quick"), ReplicaId("slow")})
    assert (one.decide(request).kv_plan, one.decide(request).kv_options) == (None, ())


def test_a_prompt_is_computed_by_no_replica_where_it_may_not_be() -> None:
    one = KvFleet(prefilling(region="us"), decoding(region="eu"), priors={"answers": WEAK})
    assert one.decide(asked()).kv_plan is not None
    assert one.decide(asked(regions=frozenset({"eu"}))).kv_options == ()


def _all_roles(**priors: Prior) -> KvFleet:
    """Replicas for prompts, for answers, and for all of a request, which can all exchange KV with each other."""
    whole = [copying(name, "whole", kv_store="s") for name in ("w1", "w2")]
    sides = [prefilling(kv_store="s"), decoding(kv_store="s")]
    return KvFleet(*sides, *whole, stores={"s": SHARED}, priors={"prompts": QUICK, **priors})


def test_with_all_roles_every_possibility_is_compared() -> None:
    one = _all_roles()
    one.serve(asked(10_000), "w2")
    one.occupy("w2")
    choice = one.router.try_dry_run(asked(), one.fleet.by_model["m"], one.now_s)
    assert choice is not None
    found = {
        (plan.origin, plan.source and plan.source.replica.id, plan.forecast.state.replica.id)
        for plan in choice.kv_options
    }
    assert {(KvOrigin.PREFILL, "prompts", "answers"), (KvOrigin.PREFILL, "prompts", "w1")} <= found
    assert (KvOrigin.STORE, None, "w1") in found
    assert (KvOrigin.PEER, "w2", "w1") in found
    assert choice.plain.state.replica.id == "w1", "computing all of it"
    assert choice.alone == (), "too much is missing for a replica that is there for answers"


def test_with_all_roles_a_long_prompt_is_split_and_comes_to_whoever_is_free() -> None:
    one = _all_roles()
    choice = one.decide(asked())
    assert (choice.target.id, choice.kv_plan and choice.kv_plan.origin) == ("answers", KvOrigin.PREFILL)
    one.occupy("answers", prompts=40)
    other = one.decide(asked(words=b"z"))
    assert other.target.pool == "whole"
    assert other.kv_plan is not None
    assert other.kv_plan.origin is KvOrigin.PREFILL


def test_with_all_roles_a_short_prompt_goes_to_whoever_is_free() -> None:
    one = _all_roles(prompts=LINKED)
    for tokens in (20, 1500):
        assert one.decide(asked(tokens, words=b"%d" % tokens)).target.pool == "whole"
    one.occupy("w1")
    one.occupy("w2")
    for tokens in (20, 1500):
        choice = one.decide(asked(tokens, words=b"%d" % tokens))
        assert (choice.target.id, choice.kv_plan) == ("answers", None)
        assert [forecast.state.replica.id for forecast in choice.alone] == ["answers"]


def test_a_long_prompt_without_a_chain_is_computed_by_no_decode_replica() -> None:
    one = KvFleet(decoding(), copying("whole"))
    one.occupy("whole")
    request = asked()
    request.chain = EMPTY
    assert one.decide(request).target.id == "whole"
