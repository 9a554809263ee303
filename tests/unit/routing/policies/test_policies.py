"""What each objective prefers, and that none prefers a broken promise."""

from math import inf

import pytest

from heterodyne.domain.errors import UnknownName
from heterodyne.domain.routing_rule import RoutingRule
from heterodyne.routing.catalogue import OBJECTIVES, check_policy, objective, try_peer
from heterodyne.routing.forecast import BROKEN, CROWDED, KEPT, LIKELY, forecast_on, slo_outlook
from heterodyne.routing.peers.catalogue import PEERS
from heterodyne.routing.routing_choice import Forecast
from tests.support.replica_states import changed, replica_state, routing_request


def forecast(name: str = "a", **figures: float) -> Forecast:
    """A candidate with a tenth of its room taken."""
    one = replica_state(name, hardware=name)
    said = {"ttft_s": 0.1, "itl_s": 0.01, "usd": 0.001, "load": 0.1, "risk": 0.0, **figures}
    return changed(forecast_on(one, routing_request(), 0.0, 0.0), **said)


def best(policy: str, *candidates: Forecast, rule: RoutingRule | None = None) -> str:
    ranked = objective(policy, rule or RoutingRule())
    return min(candidates, key=lambda one: ranked.rank(routing_request(), one)).state.replica.id


def test_a_promise_is_kept_likely_crowded_or_broken() -> None:
    assert slo_outlook(forecast(risk=0.01)) == KEPT
    assert slo_outlook(forecast(risk=0.3)) == LIKELY
    assert slo_outlook(forecast(risk=0.01, load=0.98)) == CROWDED
    assert slo_outlook(forecast(risk=0.9)) == BROKEN
    assert slo_outlook(forecast(risk=0.9, load=0.98)) == BROKEN
    assert slo_outlook(forecast(load=inf)) == CROWDED


def test_slo_takes_the_fastest_and_cost_the_cheapest_and_load_the_emptiest() -> None:
    fast = forecast("fast", ttft_s=0.1, usd=0.003, load=0.5)
    cheap = forecast("cheap", ttft_s=0.3, usd=0.001, load=0.6)
    empty = forecast("empty", ttft_s=0.4, usd=0.002, load=0.1)
    assert best("slo", cheap, fast, empty) == "fast"
    assert best("cost", fast, cheap, empty) == "cheap"
    assert best("load", cheap, fast, empty) == "empty"


@pytest.mark.parametrize("policy", ["slo", "cost", "affinity", "mix"])
@pytest.mark.parametrize("worse", [{"risk": 0.3}, {"load": 0.97}, {"risk": 0.9}])
def test_none_of_them_buys_speed_or_price_with_a_promise(policy: str, worse: dict[str, float]) -> None:
    rule = RoutingRule(prefers_hardware=("tempting",))
    tempting = forecast("tempting", ttft_s=0.001, usd=0.0, **worse)
    assert best(policy, tempting, forecast("honest", ttft_s=0.4, usd=1.0, risk=0.1), rule=rule) == "honest"


@pytest.mark.parametrize("policy", ["slo", "cost", "affinity", "mix"])
def test_where_nobody_keeps_it_the_one_that_breaks_least_is_best(policy: str) -> None:
    bad, worse = forecast("bad", risk=0.6, usd=9.0, ttft_s=5.0), forecast("worse", risk=0.7, usd=0.0, ttft_s=0.1)
    assert best(policy, worse, bad) == "bad"


def test_affinity_takes_the_preferred_hardware_while_it_keeps_the_promise() -> None:
    rule = RoutingRule(prefers_hardware=("mi300x", "h200-sxm"))
    slow, fast = forecast("mi300x", ttft_s=0.4), forecast("h100-sxm", ttft_s=0.1)
    assert best("affinity", fast, slow, rule=rule) == "mi300x"
    assert best("affinity", fast, changed(slow, risk=0.4), rule=rule) == "h100-sxm"
    also = forecast("h200-sxm", ttft_s=0.3)
    assert best("affinity", fast, slow, also, rule=rule) == "h200-sxm"


def test_affinity_may_go_by_labels() -> None:
    rule = RoutingRule(prefers_labels={"zone": "a", "rack": "7"})
    figures = changed(forecast(), ttft_s=0.5)
    right = changed(figures, state=replica_state("right", labels={"zone": "a", "rack": "7"}))
    half = changed(figures, state=replica_state("half", labels={"zone": "a"}), ttft_s=0.1)
    assert best("affinity", half, right, rule=rule) == "right"


def test_a_mix_weighs_time_against_dollars() -> None:
    fast, cheap = forecast("fast", ttft_s=0.1, usd=0.003), forecast("cheap", ttft_s=0.2, usd=0.001)
    assert best("mix", fast, cheap) == "cheap"  # twice the time for a third of the price
    assert best("mix", fast, cheap, rule=RoutingRule(mix={"slo": 0.9, "cost": 0.1})) == "fast"
    assert best("mix", fast, changed(cheap, load=0.9), rule=RoutingRule(mix={"load": 1.0})) == "fast"


@pytest.mark.parametrize("policy", ["cost", "mix"])
def test_a_replica_without_a_price_comes_last(policy: str) -> None:
    assert best(policy, forecast("hidden", usd=inf), forecast("dear", usd=1.0)) == "dear"
    assert best(policy, forecast("slow", usd=inf, ttft_s=0.4), forecast("fast", usd=inf)) == "fast"


def test_a_replica_that_costs_nothing_can_be_weighed() -> None:
    assert best("mix", forecast("free", usd=0.0), forecast("dear", usd=1.0)) == "free"


@pytest.mark.parametrize("name", [*OBJECTIVES, *PEERS])
def test_every_policy_has_a_name_that_makes_it(name: str) -> None:
    check_policy(name)
    peer = try_peer(name)
    assert (peer or objective(name, RoutingRule())).name == name
    assert (peer is None) == (name in OBJECTIVES)


def test_a_peer_is_made_anew_for_everyone_that_asks() -> None:
    assert try_peer("round-robin") is not try_peer("round-robin")


def test_a_name_nobody_knows_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="cost"):
        check_policy("coast")
    with pytest.raises(UnknownName, match="affinity"):
        objective("afinity", RoutingRule())
