"""The router over time: replicas come, go and change, and so do rules; what was known of them goes with them."""

from random import Random

import pytest
from msgspec import structs

from heterodyne.domain.engine_load import EngineLoad
from heterodyne.domain.fleet import FleetSnapshot, ModelRule
from heterodyne.domain.price import Price
from heterodyne.domain.routing_rule import KvStrategy, Reason, RoutingRule
from heterodyne.domain.urgency import Urgency
from heterodyne.routing.forecast import KEPT
from heterodyne.routing.kv.chain import chain_of_blocks
from heterodyne.routing.router import Router
from heterodyne.routing.ticket import Ticket
from tests.support.replica_states import ROUND, fleet, replica, router, routing_request

SLOW = structs.replace(ROUND, fixed_s=0.2, prompt_token_s=2e-4)
CHAIN = chain_of_blocks(b"salt", range(1, 11), 100)
STICKY = RoutingRule(kv=KvStrategy.STICKY)


def serve(one: Router, name: str, request=None, now_s: float = 0.0, *, cached: int | None = None) -> Ticket:
    """One request from its start to its end on a replica."""
    request = request or routing_request(chain=CHAIN)
    ticket = one.start(request, one.forecast(request, name, now_s), now_s)
    ticket.first_token(now_s + 0.12)
    ticket.end(now_s + 1.0, output_tokens=10, cached_tokens=cached)
    return ticket


def test_one_usable_replica_is_taken_whatever_it_is_like() -> None:
    a, b = replica("a"), replica("b")
    one = router(a, b)
    choice = one.decide(routing_request(ttft_slo_s=0.001), [b], 0.0)
    assert (choice.target, choice.reason) == (b, Reason.ONLY_REPLICA)


def test_only_usable_replicas_are_named() -> None:
    replicas = [replica(name) for name in "abcdef"]
    one, random = router(*replicas), Random(1)
    for _ in range(200):
        usable = random.sample(replicas, random.randrange(1, 6))
        assert one.decide(routing_request(), usable, 0.0).target in usable


def test_a_prompt_goes_where_its_beginning_is() -> None:
    replicas = [replica(name) for name in "abc"]
    one = router(*replicas)
    serve(one, "b")
    choice = one.decide(routing_request(chain=CHAIN), replicas, 5.0)
    assert choice.target.id == "b"
    assert choice.forecast.cached_tokens > 500


def test_a_replica_that_lost_its_memory_is_as_cold_as_any() -> None:
    one = router(replica("a"), replica("b"))
    serve(one, "b")
    one.on_memory_lost("b", 2.0)
    assert one.forecast(routing_request(chain=CHAIN), "b", 3.0).cached_tokens == 0
    one.on_memory_lost("nobody", 2.0)  # has left already


def test_a_replica_that_has_left_leaves_nothing_to_the_next_on_its_place() -> None:
    one = router(replica("a"), replica("b"))
    serve(one, "b")
    one.publish(fleet(replica("a"), version=2), 2.0)
    one.publish(fleet(replica("a"), replica("new"), version=3), 3.0)
    forecast = one.forecast(routing_request(chain=CHAIN), "new", 4.0)
    assert forecast.state.place == 1
    assert forecast.cached_tokens == 0
    assert forecast.state.in_flight == 0


def test_places_stay_few_however_often_replicas_come_and_go() -> None:
    one = router(*[replica(f"r0-{number}") for number in range(8)])
    for version in range(1, 50):
        one.publish(fleet(*[replica(f"r{version}-{number}") for number in range(8)], version=version), float(version))
    places = {one.forecast(routing_request(), f"r49-{number}", 50.0).state.place for number in range(8)}
    assert places == set(range(8))


def test_a_request_that_outlives_its_replica_ends_quietly() -> None:
    one = router(replica("a"), replica("b"))
    request = routing_request(chain=CHAIN)
    ticket = one.start(request, one.forecast(request, "b", 0.0), 0.0)
    one.publish(fleet(replica("a"), version=2), 0.1)
    ticket.first_token(0.2)
    ticket.end(1.0, output_tokens=20)
    assert ticket.state.in_flight == 0


def test_a_request_that_outlives_its_replica_says_nothing_of_the_next_on_its_place() -> None:
    one = router(replica("a"), replica("b"))
    request = routing_request(chain=CHAIN)
    old = one.start(request, one.forecast(request, "b", 0.0), 0.0)
    one.publish(fleet(replica("a"), version=2), 0.1)
    one.publish(fleet(replica("a"), replica("new"), version=3), 0.2)
    one.start(request, one.forecast(request, "new", 0.3), 0.3)  # has not computed anything yet
    old.first_token(0.4)
    third = one.start(request, one.forecast(request, "new", 0.5), 0.5)
    assert third._said_tokens == 0  # of a prompt whose first token never came from there nothing is proven


def test_a_replica_of_the_same_name_and_another_make_begins_anew() -> None:
    one = router(replica("a"), replica("b", version="v1"))
    serve(one, "b")
    one.publish(fleet(replica("a"), replica("b", version="v2"), version=2), 2.0)
    assert one.forecast(routing_request(chain=CHAIN), "b", 3.0).cached_tokens == 0


def test_new_gauges_and_prices_change_a_seat_and_forget_nothing() -> None:
    one = router(replica("a"), replica("b"))
    serve(one, "b")
    request = routing_request(chain=CHAIN)
    ticket = one.start(request, one.forecast(request, "b", 2.0), 2.0)
    load = EngineLoad(running=7, waiting=0, kv_tokens=5000)
    one.publish(fleet(replica("a"), replica("b", load=load, price=Price(usd_per_hour=2.0)), version=2), 2.5)
    forecast = one.forecast(request, "b", 3.0)
    assert forecast.state is ticket.state
    assert (forecast.state.in_flight, forecast.state.others) == (1, 6)
    assert forecast.usd < 1
    assert forecast.cached_tokens > 0


def test_the_index_believes_in_no_more_than_a_replicas_memory_holds() -> None:
    one = router(replica("a"), replica("b", load=EngineLoad(kv_tokens=300)))
    one.publish(fleet(replica("a"), replica("b", load=EngineLoad(kv_tokens=300)), version=2), 0.0)
    serve(one, "b")
    assert one.forecast(routing_request(chain=CHAIN), "b", 2.0).cached_tokens <= 300


def test_a_replica_of_unknown_memory_is_not_held_to_that_of_the_last_on_its_place() -> None:
    priors = {
        "known": structs.replace(ROUND, kv_tokens=300.0),
        "unknown": structs.replace(ROUND, kv_tokens=float("inf")),
    }
    one = router(replica("a"), replica("b", "known"), priors=priors)
    one.publish(fleet(replica("a"), version=2), 1.0)
    one.publish(fleet(replica("a"), replica("c", "unknown"), version=3), 2.0)
    serve(one, "c", now_s=3.0)
    assert one.forecast(routing_request(chain=CHAIN), "c", 5.0).cached_tokens > 300


def test_pools_are_learned_apart_and_forgotten_when_they_go() -> None:
    one = router(replica("a", "x"), replica("b", "y"))
    for number in range(50):
        serve(one, "a", routing_request(), number * 10.0)
    assert one.speeds()["x"].samples == 50
    assert one.speeds()["y"].samples == 0
    one.publish(fleet(replica("b", "y"), version=2), 1000.0)
    assert set(one.speeds()) == {"y"}


def test_a_pool_that_moves_to_other_hardware_is_predicted_by_that_hardware() -> None:
    priors = {"old": ROUND, "new": SLOW}
    one = Router(
        fleet(replica("a", hardware="old")), prior_of=lambda each: priors[each.hardware], chance=lambda: 0.5, now_s=0.0
    )
    one.publish(fleet(replica("a", hardware="new"), version=2), 1.0)
    assert one.forecast(routing_request(), "a", 2.0).ttft_s == pytest.approx(0.4)


def test_a_rule_that_changes_holds_from_the_next_request_on() -> None:
    fast, cheap = replica("fast", "fast", usd_per_hour=10.0), replica("cheap", "cheap", usd_per_hour=0.1)
    one = router(fast, cheap, rule=RoutingRule(policy="slo"), priors={"cheap": SLOW})
    request = routing_request(ttft_slo_s=5.0)
    assert one.decide(request, [fast, cheap], 0.0).target is fast
    one.publish(fleet(fast, cheap, rule=RoutingRule(policy="cost"), version=2), 1.0)
    choice = one.decide(request, [fast, cheap], 1.0)
    assert (choice.target.id, choice.reason) == ("cheap", Reason.CHEAPEST)


def test_a_request_may_name_another_policy_than_its_model() -> None:
    fast, cheap = replica("fast", "fast", usd_per_hour=10.0), replica("cheap", "cheap", usd_per_hour=0.1)
    one = router(fast, cheap, rule=RoutingRule(policy="slo"), priors={"cheap": SLOW})
    usable = [fast, cheap]
    assert one.decide(routing_request(ttft_slo_s=5.0, policy="cost"), usable, 0.0).target is cheap
    assert one.decide(routing_request(ttft_slo_s=5.0), usable, 0.0).target is fast


def test_another_systems_rule_decides_where_it_is_the_policy_and_the_request_names_no_other() -> None:
    replicas = [replica(name) for name in "abc"]
    one = router(*replicas, rule=RoutingRule(policy="round-robin"))
    seen = [one.decide(routing_request(), replicas, 0.0) for _ in range(6)]
    assert {choice.reason for choice in seen} == {Reason.PEER}
    assert sorted(choice.target.id for choice in seen) == ["a", "a", "b", "b", "c", "c"]
    assert one.decide(routing_request(policy="round-robin"), replicas, 0.0).reason is Reason.PEER
    assert one.decide(routing_request(policy="slo"), replicas, 0.0).reason is Reason.ONLY_POOL


def test_another_systems_rule_keeps_its_memory_while_it_stays_the_policy() -> None:
    replicas = [replica(name) for name in "abc"]
    rule = RoutingRule(policy="round-robin")
    one = router(*replicas, rule=rule)
    first = one.decide(routing_request(), replicas, 0.0).target
    one.publish(fleet(*replicas, rule=structs.replace(rule, ttft_slo_s=1.0), version=2), 1.0)
    assert one.decide(routing_request(), replicas, 1.0).target != first


def tiered(own_slots: int) -> tuple[Router, list]:
    hosted = replica("hosted", "hosted", price=Price(usd_per_million_prompt_tokens=1.0))
    own = replica("own", "own", usd_per_hour=5.0, in_flight_max=own_slots)
    return router(own, hosted), [own, hosted]


def test_own_capacity_comes_before_hosted_while_it_keeps_the_promise() -> None:
    one, usable = tiered(own_slots=100)
    assert one.decide(routing_request(ttft_slo_s=1.0), usable, 0.0).target.id == "own"


@pytest.mark.parametrize("slo_s", [float("inf"), 1.0])
def test_hosted_capacity_takes_what_own_capacity_has_no_room_for(slo_s: float) -> None:
    one, usable = tiered(own_slots=3)
    request = routing_request(100, ttft_slo_s=slo_s)
    for _ in range(4):
        one.start(request, one.forecast(request, "own", 0.0), 0.0)
    choice = one.decide(request, usable, 0.0)
    assert (choice.target.id, choice.slo_outlook) == ("hosted", KEPT)


def test_hosted_capacity_takes_what_own_capacity_has_no_room_for_under_load_too() -> None:
    one, usable = tiered(own_slots=3)
    request = routing_request(100, policy="load")
    for _ in range(30):
        one.start(request, one.forecast(request, "own", 0.0), 0.0)
    assert one.decide(request, usable, 0.0).target.id == "hosted"


def test_the_nearer_region_comes_first_and_the_next_when_it_would_be_late() -> None:
    near, far = replica("near", "near", region="eu"), replica("far", "far", region="us")
    rule = ModelRule(regions_first=("eu",))
    one = Router(FleetSnapshot.of(1, (far, near), {"m": rule}), prior_of=lambda _: ROUND, chance=lambda: 0.5, now_s=0.0)
    request = routing_request(ttft_slo_s=0.5)
    assert one.decide(request, [far, near], 0.0).target is near
    for _ in range(20):
        one.start(request, one.forecast(request, "near", 0.0), 0.0)
    assert one.decide(request, [far, near], 0.0).target is far


def at_home(home: str) -> tuple[Router, list]:
    replicas = [replica(name) for name in "abc"]
    one = router(*replicas, rule=STICKY)
    request = routing_request(session="s")
    one.start(request, one.forecast(request, home, 0.0), 0.0).end(1.0, output_tokens=0, is_complete=False)
    return one, replicas


def test_a_conversation_stays_at_home() -> None:
    one, replicas = at_home("c")
    for number in range(5):
        request = routing_request(100)
        one.start(request, one.forecast(request, "c", 2.0 + number), 2.0 + number)  # busier than the others
    choice = one.decide(routing_request(session="s", ttft_slo_s=1.0), replicas, 10.0)
    assert (choice.target.id, choice.reason) == ("c", Reason.HOME)
    assert one.decide(routing_request(session="other"), replicas, 10.0).reason is not Reason.HOME


def test_a_conversation_leaves_home_when_that_would_be_late() -> None:
    one, replicas = at_home("c")
    for _ in range(20):
        request = routing_request(2000)
        one.start(request, one.forecast(request, "c", 2.0), 2.0)
    assert one.decide(routing_request(session="s", ttft_slo_s=1.0), replicas, 2.0).target.id != "c"


def test_a_conversation_leaves_home_without_a_promise_when_another_is_much_sooner() -> None:
    one, replicas = at_home("c")
    for _ in range(20):
        request = routing_request(5000)
        one.start(request, one.forecast(request, "c", 2.0), 2.0)  # ten seconds of prompts
    assert one.decide(routing_request(session="s"), replicas, 2.0).target.id != "c"


def test_a_conversation_has_no_home_that_is_gone_excluded_or_empty() -> None:
    one, replicas = at_home("c")
    assert one.decide(routing_request(session="s"), replicas[:2], 2.0).target.id != "c"
    one.on_memory_lost("c", 3.0)
    assert one.decide(routing_request(session="s"), replicas, 3.0).reason is not Reason.HOME
    one.publish(fleet(*replicas[:2], rule=STICKY, version=2), 4.0)
    assert one.decide(routing_request(session="s"), replicas[:2], 4.0).target.id != "c"


def test_models_do_not_mix() -> None:
    one = router(replica("a", "x"), replica("b", "y", model="other"))
    other = routing_request().of_model("other")
    assert one.decide(other, [replica("b", "y", model="other")], 0.0).target.id == "b"


def test_very_many_requests_to_an_only_replica_are_told_the_same() -> None:
    only = replica("only")
    to = router(only)
    first, second = (to.decide(routing_request(), (only,), now_s) for now_s in (0.0, 0.001))
    assert not first.is_repeated
    assert second.is_repeated
    assert second.forecast is first.forecast
    assert not to.decide(routing_request(), (only,), 0.003).is_repeated, "five hundred a second are forecast"
    assert not to.decide(routing_request(ttft_slo_s=1.0), (only,), 0.0031).is_repeated, "something was promised"
    assert not to.decide(routing_request(urgency=Urgency.BATCH), (only,), 0.0032).is_repeated


def test_where_there_is_a_choice_nobody_is_told_the_same() -> None:
    both = (replica("a"), replica("b"))
    to = router(*both)
    assert not any(to.decide(routing_request(), both, 0.0).is_repeated for _ in range(3))
    assert not any(to.decide(routing_request(), both[:1], 0.0).is_repeated for _ in range(3)), "the other may come back"
