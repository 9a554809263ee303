"""On whose account a forwarded request goes, and at which tier."""

import pytest
from msgspec import structs

from heterodyne.admission.callers import LOCAL, PROXY
from heterodyne.domain.urgency import Tier
from heterodyne.endpoint_picker.caller import FAIRNESS_IDS_MAX, ProxyCallers, with_objective

PRIORITIES = {"chat": 10, "usual": 0, "crawl": -1}


def test_fairness_ids_tell_callers_apart_and_there_is_a_bound_of_them() -> None:
    callers = ProxyCallers()
    one, other = (callers.of({b"x-gateway-inference-fairness-id": name}) for name in (b"a", b"b"))
    assert (one.project, other.project) == ("proxy/a", "proxy/b")
    assert one.salt != other.salt
    assert callers.of({b"x-llm-d-inference-fairness-id": b"a"}) is one
    assert callers.of({}) is PROXY
    assert callers.of({b"x-gateway-inference-fairness-id": b"../x"}) is PROXY
    for number in range(FAIRNESS_IDS_MAX):
        callers.of({b"x-gateway-inference-fairness-id": b"id-%d" % number})
    assert callers.of({b"x-gateway-inference-fairness-id": b"late"}) is PROXY
    assert callers.of({b"x-gateway-inference-fairness-id": b"a"}) is one


@pytest.mark.parametrize(
    ("objective", "tier"),
    [("chat", Tier.GOLD), ("usual", Tier.SILVER), ("crawl", Tier.BRONZE), ("unknown", Tier.SILVER)],
)
def test_a_proxys_request_has_the_tier_of_its_objective(objective: str, tier: Tier) -> None:
    headers = {b"x-gateway-inference-objective": objective.encode()}
    assert with_objective(PROXY, headers, PRIORITIES).tier is tier


@pytest.mark.parametrize(
    ("own", "objective", "tier"),
    [
        (Tier.SILVER, "chat", Tier.SILVER),
        (Tier.GOLD, "crawl", Tier.BRONZE),
        (Tier.GOLD, "usual", Tier.SILVER),
        (Tier.BRONZE, "usual", Tier.BRONZE),
        (Tier.BRONZE, "chat", Tier.BRONZE),
    ],
)
def test_an_objective_never_raises_the_tier_of_a_key(own: Tier, objective: str, tier: Tier) -> None:
    caller = structs.replace(LOCAL, tier=own)
    headers = {b"x-llm-d-inference-objective": objective.encode()}
    assert with_objective(caller, headers, PRIORITIES).tier is tier


def test_without_an_objective_a_caller_is_as_it_is() -> None:
    assert with_objective(LOCAL, {}, PRIORITIES) is LOCAL
