"""A decision told replica by replica: in the order of the policy, with a reason for each."""

import pytest
from msgspec import structs

from heterodyne.domain.fleet import Replica
from heterodyne.domain.price import Price
from heterodyne.domain.routing_rule import KvStrategy, Reason, RoutingRule
from heterodyne.routing.explanation.explain import explain
from heterodyne.routing.explanation.explanation import Candidate, CandidateVerdict, Explanation, SloOutlook
from heterodyne.routing.prediction.prior import Prior
from heterodyne.routing.router import Router
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest
from tests.support.replica_states import LATER_S, ROUND, figures_of, fill, replica, router, routing_request


def of_ttft(ttft_s: float) -> Prior:
    """A first token after so long, whatever the load; room for a hundred requests."""
    return structs.replace(
        ROUND, fixed_s=ttft_s, prompt_token_s=0.0, step_s=1e-6, sequence_s=0.0, context_token_s=0.0, kv_tokens=1e9
    )


FAST, SLOW, LATE = (
    replica("fast", "fast", usd_per_hour=8.0),
    replica("slow", "slow", usd_per_hour=2.0),
    replica("late", "late"),
)
PRIORS = {"fast": of_ttft(0.1), "slow": of_ttft(0.2), "late": of_ttft(5.0)}
PROMISED = routing_request(ttft_slo_s=0.8)


def told(one: Router, asked: RoutingRequest, *replicas: Replica, excluded: dict[str, str] | None = None) -> Explanation:
    """Of a dry run."""
    excluded = excluded or {}
    usable = [each for each in replicas if each.id not in excluded]
    choice = one.try_dry_run(asked, usable, LATER_S) if usable else None
    return explain(
        asked,
        one.compare(asked, replicas, LATER_S),
        choice,
        one.objective(asked),
        policy=one.policy(asked),
        exclusions=excluded,  # type: ignore[arg-type]
    )


def rows(explanation: Explanation) -> dict[str, Candidate]:
    return {one.replica: one for one in explanation.candidates}


def mixed(**rule: object) -> Router:
    return router(FAST, SLOW, LATE, priors=PRIORS, rule=RoutingRule(**rule))  # type: ignore[arg-type]


def test_replicas_are_in_the_order_of_the_policy_each_with_its_reason() -> None:
    explanation = told(mixed(), PROMISED, SLOW, LATE, FAST)
    assert [one.replica for one in explanation.candidates] == ["fast", "slow", "late"]
    assert [one.verdict for one in explanation.candidates] == [
        CandidateVerdict.CHOSEN,
        CandidateVerdict.PASSED,
        CandidateVerdict.PASSED,
    ]
    reasons = [one.reason for one in explanation.candidates]
    assert reasons[0] == "the earliest first token of those that keep the promise"
    assert reasons[1] == "first token 100 ms later"
    assert reasons[2] == "too late: TTFT 5000 of 800 ms"
    assert explanation.conclusion == "fast: the earliest first token of those that keep the promise."
    assert explanation.reason is Reason.FASTEST


def test_the_cheapest_comes_first_where_cost_decides() -> None:
    explanation = told(mixed(), routing_request(ttft_slo_s=0.8, policy="cost"), FAST, SLOW, LATE)
    assert explanation.asked.policy == "cost"
    assert [one.replica for one in explanation.candidates] == ["slow", "fast", "late"]
    assert rows(explanation)["fast"].reason == "4.00 times the price"
    assert rows(explanation)["slow"].usd_per_million_tokens == pytest.approx(rows(explanation)["slow"].usd / 1100 * 1e6)


def test_a_replica_without_a_price_costs_none_and_not_infinity() -> None:
    row = rows(told(mixed(), PROMISED, FAST, SLOW, LATE))["late"]
    assert (row.usd, row.usd_per_million_tokens) == (None, None)


def test_predictions_lie_between_their_ends() -> None:
    for row in told(mixed(), PROMISED, FAST, SLOW, LATE).candidates:
        for span in (row.ttft, row.itl):
            assert 0 < span.low_ms < span.ms < span.high_ms


def test_a_promise_nobody_keeps_is_answered_with_what_the_best_can_do() -> None:
    explanation = told(mixed(), routing_request(ttft_slo_s=0.001), FAST, SLOW, LATE)
    assert explanation.reason is Reason.LEAST_HARM
    assert all(one.promise is SloOutlook.BROKEN for one in explanation.candidates)
    high_ms = rows(explanation)["fast"].ttft.high_ms
    assert explanation.conclusion.startswith("No replica keeps the promise. TTFT 1 ms: the best is fast with 100 ms")
    assert f"a promise of {int(high_ms) + 1} ms would hold" in explanation.conclusion


def test_a_replica_over_capacity_is_said_to_be() -> None:
    one = mixed()
    fill(one.forecast(PROMISED, FAST.id, 0.0).state, 98)
    explanation = told(one, PROMISED, FAST, SLOW, LATE)
    assert explanation.candidates[0].replica == "slow"
    assert rows(explanation)["fast"].promise is SloOutlook.CROWDED
    assert rows(explanation)["fast"].reason == "over capacity: 99% of its room"


def test_those_that_may_not_be_asked_are_forecast_and_come_last() -> None:
    explanation = told(mixed(), PROMISED, FAST, SLOW, LATE, excluded={"fast": "down"})
    assert [one.replica for one in explanation.candidates] == ["slow", "late", "fast"]
    row = rows(explanation)["fast"]
    assert (row.verdict, row.reason, round(row.ttft.ms)) == (CandidateVerdict.EXCLUDED, "down", 100)


def test_with_nobody_to_ask_there_is_no_decision() -> None:
    explanation = told(mixed(), PROMISED, FAST, excluded={"fast": "down"})
    assert explanation.reason is None
    assert explanation.conclusion == "No replica of m may be asked now."


def test_without_a_promise_none_is_kept() -> None:
    explanation = told(mixed(), routing_request(), FAST, SLOW, LATE)
    assert {one.promise for one in explanation.candidates} == {None}
    assert explanation.conclusion == "fast: the earliest first token."
    assert rows(explanation)["late"].reason == "first token 4900 ms later"


def test_preferred_hardware_is_named_as_the_reason() -> None:
    slow = structs.replace(SLOW, hardware="mi300x")
    rule = RoutingRule(policy="affinity", prefers_hardware=("mi300x",))
    explanation = told(router(FAST, slow, priors=PRIORS, rule=rule), PROMISED, FAST, slow)
    assert explanation.conclusion == "slow: the soonest of the preferred kind."
    assert rows(explanation)["fast"].reason == "not of the preferred kind"


def test_hosted_capacity_is_for_when_ours_is_not_enough() -> None:
    hosted = replica("hosted", "fast", price=Price(usd_per_million_prompt_tokens=1.0))
    one = router(SLOW, hosted, priors=PRIORS)
    row = rows(told(one, routing_request(), SLOW, hosted))["slow"]
    assert row.verdict is CandidateVerdict.CHOSEN
    explanation = explain(
        routing_request(),
        one.compare(routing_request(), [SLOW, hosted], LATER_S),
        one.try_dry_run(routing_request(), [SLOW, hosted], LATER_S),
        one.objective(routing_request()),
        policy="slo",
        tiers={hosted.id: 1},
    )
    assert rows(explanation)["hosted"].reason == "comes after replicas of preferred regions and of our own"


def test_a_conversation_at_home_is_told() -> None:
    one = mixed(kv=KvStrategy.STICKY)
    asked = routing_request(session="s", prompt_tokens=100)
    one.start(asked, one.forecast(asked, SLOW.id, 0.0), 0.0).end(1.0, output_tokens=1)
    explanation = told(one, asked, FAST, SLOW, LATE)
    assert explanation.reason in (Reason.HOME, Reason.FASTEST)
    if explanation.reason is Reason.HOME:
        assert rows(explanation)["fast"].reason == "the conversation is at home elsewhere"


def test_a_rehearsal_leaves_nothing_to_chance_and_nothing_behind() -> None:
    def never() -> float:
        raise AssertionError("chance was asked")

    one = router(FAST, SLOW, LATE, priors=PRIORS, chance=never)
    before = figures_of(one.compare(PROMISED, [FAST], LATER_S)[0])
    choices = [one.try_dry_run(PROMISED, [FAST, SLOW, LATE], LATER_S) for _ in range(200)]
    assert {choice.target.id for choice in choices if choice is not None} == {"fast"}
    assert figures_of(one.compare(PROMISED, [FAST], LATER_S)[0]) == before


def test_another_systems_rule_is_not_rehearsed_for_it_remembers() -> None:
    one = mixed(policy="round-robin")
    explanation = told(one, PROMISED, FAST, SLOW, LATE)
    assert explanation.reason is None
    assert "by its own rule" in explanation.conclusion
    turns = [one.decide(PROMISED, [FAST, SLOW, LATE], LATER_S).target.id for _ in range(3)]
    told(one, PROMISED, FAST, SLOW, LATE)
    assert [one.decide(PROMISED, [FAST, SLOW, LATE], LATER_S).target.id for _ in range(3)] == turns
    ours = told(one, routing_request(ttft_slo_s=0.8, policy="slo"), FAST, SLOW, LATE)
    assert ours.reason is Reason.FASTEST


def test_a_choice_knows_what_it_was_compared_with() -> None:
    one = mixed()
    choice = one.decide(PROMISED, [FAST, SLOW, LATE], LATER_S)
    assert {forecast.state.replica.id for forecast in choice.others} == {"fast", "slow", "late"}
    assert choice.forecast in choice.others


def test_what_several_tiers_offered_is_known_too() -> None:
    hosted = replica("hosted", "hosted", price=Price(usd_per_million_prompt_tokens=1.0))
    one = router(LATE, hosted, priors={**PRIORS, "hosted": of_ttft(0.1)})
    choice = one.decide(PROMISED, [LATE, hosted], LATER_S)
    assert choice.target is hosted
    assert {forecast.state.replica.id for forecast in choice.others} == {"late", "hosted"}


def test_every_reason_has_its_words() -> None:
    one = mixed()
    forecast = one.forecast(PROMISED, FAST.id, LATER_S)
    for reason in Reason:
        explanation = explain(
            PROMISED,
            one.compare(PROMISED, [FAST, SLOW, LATE], LATER_S),
            RoutingChoice(forecast, 0, reason),
            one.objective(PROMISED),
            policy="slo",
        )
        assert all(row.reason for row in explanation.candidates), reason
