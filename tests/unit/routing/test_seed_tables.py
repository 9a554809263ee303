"""The decision tables of the source documents, from the pool states that are given there."""

import pytest
from msgspec import structs

from heterodyne.domain.fleet import Replica
from heterodyne.domain.routing_rule import Reason, RoutingRule
from heterodyne.domain.urgency import Urgency
from heterodyne.routing.catalogue import objective
from heterodyne.routing.forecast import CROWDED, KEPT, LIKELY, LOAD_MAX, forecast_on, slo_outlook
from heterodyne.routing.prediction.prior import Prior
from heterodyne.routing.router import Router
from heterodyne.routing.routing_request import RoutingRequest
from tests.support.replica_states import LATER_S, ROUND, fill, replica, replica_state, router

HOUR_S = 3600.0


def prior_of_ttft(ttft_s: float) -> Prior:
    """A first token after so long, with nothing before it that depends on load; room for a hundred requests."""
    return structs.replace(
        ROUND, fixed_s=ttft_s, prompt_token_s=0.0, step_s=1e-6, sequence_s=0.0, context_token_s=0.0, kv_tokens=1e9
    )


# SLO-based: Llama 70B, TTFT below 500 ms.

STATES = {  # P50 TTFT, and the share of its capacity in use
    "h100-sxm": (0.180, 0.85),
    "mi300x": (0.220, 0.60),
    "tpu-v5e": (0.450, 0.40),
    "h200-sxm": (0.150, 0.98),
}
CHAT = RoutingRequest(model="m", prompt_tokens=1000, output_tokens=100.0, ttft_slo_s=0.5)


def slo_fleet() -> tuple[Router, dict[str, Replica]]:
    replicas = {name: replica(name, name, hardware=name) for name in STATES}
    priors = {name: prior_of_ttft(ttft_s) for name, (ttft_s, _) in STATES.items()}
    one = router(*replicas.values(), rule=RoutingRule(policy="slo", ttft_slo_s=0.5), priors=priors)
    for name, (_, share) in STATES.items():
        fill(one.forecast(CHAT, name, 0.0).state, round(100 * share) - 1)  # the request itself is one more
    return one, replicas


def order(one: Router, replicas: dict[str, Replica], request: RoutingRequest) -> list[str]:
    """Who is chosen, who when that one is gone, and so on."""
    left, chosen = dict(replicas), []
    while left:
        chosen.append(one.decide(request, list(left.values()), LATER_S).target.id)
        del left[chosen[-1]]
    return chosen


def test_the_pools_are_in_the_states_of_the_slo_table() -> None:
    one, _ = slo_fleet()
    for name, (ttft_s, share) in STATES.items():
        forecast = one.forecast(CHAT, name, LATER_S)
        assert forecast.ttft_s == pytest.approx(ttft_s, rel=0.001)
        assert forecast.load == pytest.approx(share)


def test_slo_routing_takes_h100_and_mi300x_as_its_backup() -> None:
    one, replicas = slo_fleet()
    choice = one.decide(CHAT, list(replicas.values()), LATER_S)
    assert (choice.target.id, choice.reason, choice.slo_outlook) == ("h100-sxm", Reason.FASTEST, KEPT)
    assert order(one, replicas, CHAT)[:2] == ["h100-sxm", "mi300x"]


def test_the_objective_ranks_the_slo_table_as_it_is_written() -> None:
    one, _ = slo_fleet()
    ranked = objective("slo", RoutingRule())
    ranks = {name: ranked.rank(CHAT, one.forecast(CHAT, name, LATER_S)) for name in STATES}
    assert sorted(ranks, key=ranks.__getitem__) == ["h100-sxm", "mi300x", "tpu-v5e", "h200-sxm"]


def test_slo_routing_takes_tpu_v5e_before_h200_that_is_over_capacity() -> None:
    one, replicas = slo_fleet()
    assert order(one, replicas, CHAT) == ["h100-sxm", "mi300x", "tpu-v5e", "h200-sxm"]


def test_each_pool_of_the_slo_table_stands_where_it_does_for_the_reason_given_there() -> None:
    one, _ = slo_fleet()
    stands = {name: slo_outlook(one.forecast(CHAT, name, LATER_S)) for name in STATES}
    assert stands == {
        "h100-sxm": KEPT,  # the best option
        "mi300x": KEPT,  # a backup: as sure, and slower
        "tpu-v5e": LIKELY,  # acceptable: within the target, without room
        "h200-sxm": CROWDED,  # over capacity, though nobody is faster
    }
    h200 = one.forecast(CHAT, "h200-sxm", LATER_S)
    assert h200.load > LOAD_MAX
    assert h200.ttft_s < one.forecast(CHAT, "h100-sxm", LATER_S).ttft_s


def test_h200_is_the_fastest_again_as_soon_as_it_has_room() -> None:
    one, replicas = slo_fleet()
    state = one.forecast(CHAT, "h200-sxm", LATER_S).state
    state.slots = 200  # twice the capacity
    assert order(one, replicas, CHAT)[0] == "h200-sxm"


# Cost-based: batch inference, complete within one hour.

USD_PER_MILLION_TOKENS = {"tpu-v5e": 0.80, "mi300x": 1.20, "h100-sxm": 2.50, "h200-sxm": 3.00}
BATCH = RoutingRequest(model="m", prompt_tokens=1000, output_tokens=1000.0, ttft_slo_s=HOUR_S, urgency=Urgency.BATCH)
TOKENS = BATCH.prompt_tokens + BATCH.output_tokens
# The dearer the faster, as it is in life: the table is about dollars all the same.
SPEEDS = {"tpu-v5e": 1.0, "mi300x": 0.5, "h100-sxm": 0.4, "h200-sxm": 0.3}


def cost_fleet(**usd: float) -> tuple[Router, dict[str, Replica]]:
    """Prices by the hour at which a million tokens cost what the table says."""
    replicas, priors = {}, {}
    for name, usd_per_million in {**USD_PER_MILLION_TOKENS, **usd}.items():
        slowness = SPEEDS[name]
        priors[name] = structs.replace(
            ROUND, prompt_token_s=1e-4 * slowness, step_s=0.01 * slowness, sequence_s=1e-4 * slowness
        )
        for_a_dollar_an_hour = forecast_on(replica_state(prior=priors[name], usd_per_hour=1.0), BATCH, 0.0, 0.0).usd
        usd_per_hour = usd_per_million * TOKENS / 1e6 / for_a_dollar_an_hour
        replicas[name] = replica(name, name, hardware=name, usd_per_hour=usd_per_hour)
    return router(*replicas.values(), rule=RoutingRule(policy="cost"), priors=priors), replicas


def test_a_million_tokens_cost_what_the_cost_table_says() -> None:
    one, _ = cost_fleet()
    for name, usd in USD_PER_MILLION_TOKENS.items():
        assert one.forecast(BATCH, name, 0.0).usd / TOKENS * 1e6 == pytest.approx(usd)


def test_cost_routing_takes_tpu_v5e_then_mi300x_then_h100_and_h200_last() -> None:
    one, replicas = cost_fleet()
    choice = one.decide(BATCH, list(replicas.values()), LATER_S)
    assert (choice.target.id, choice.reason) == ("tpu-v5e", Reason.SPARE)
    assert order(one, replicas, BATCH) == ["tpu-v5e", "mi300x", "h100-sxm", "h200-sxm"]


def test_every_pool_of_the_cost_table_meets_the_hour_so_that_price_alone_decides() -> None:
    one, _ = cost_fleet()
    assert {slo_outlook(one.forecast(BATCH, name, 0.0)) for name in USD_PER_MILLION_TOKENS} == {KEPT}
    by_time = sorted(USD_PER_MILLION_TOKENS, key=lambda name: one.forecast(BATCH, name, 0.0).ttft_s)
    assert by_time == ["h200-sxm", "h100-sxm", "mi300x", "tpu-v5e"]  # the reverse


def test_a_price_rise_moves_the_work_to_the_next_cheapest() -> None:
    one, replicas = cost_fleet(**{"tpu-v5e": 1.30})
    assert order(one, replicas, BATCH)[:2] == ["mi300x", "tpu-v5e"]


def test_the_cheapest_that_would_miss_a_tight_target_gives_way_to_one_that_meets_it() -> None:
    one, replicas = cost_fleet()
    tight = BATCH.copied()
    tight.ttft_slo_s = 0.12  # TPU v5e takes as long
    assert one.decide(tight, list(replicas.values()), LATER_S).target.id != "tpu-v5e"
