"""What tenants get of a full fleet through one queue and through four, and what many budgets of hedges come to."""

import random
from collections import Counter
from collections.abc import Callable

import pytest

from heterodyne.admission.queue.fair_queue import FairQueue
from heterodyne.admission.queue.waiting import StartVerdict, Waiting
from heterodyne.routing.health.model_health import CREDIT_MAX, HedgeBudget

GATEWAYS = 4
SLOTS = 256  # of the fleet
SERVED = 40_000
SERVICE = (20.0, 2000.0)  # of a request
WEIGHTS = {"a": 1.0, "b": 1.0, "c": 2.0, "d": 4.0}
BACKLOG = 20  # requests of a tenant that wait at a gateway that it uses
BALANCED_ERROR = 0.02  # of the fleet, of any tenant's share
SEEDS = (1, 2, 3)

Places = Callable[[str], tuple[int, ...]]  # the gateways that a tenant's requests come to


def shares(gateways: int, places: Places, seed: int) -> dict[str, float]:
    """Of the service, while every tenant has more waiting than can be served.

    Whoever's request ends takes the next from its own queue: the others hear of the room a tenth of a second later.
    """
    chance = random.Random(f"{seed} fairness")
    queues = [FairQueue("m", queue_max=10_000, tenant_queue_max=10_000) for _ in range(gateways)]
    running: list[tuple[int, Waiting]] = []
    served: Counter[str] = Counter()

    def push(tenant: str, place: int) -> None:
        one = Waiting(tenant=tenant, weight=WEIGHTS[tenant], service=chance.uniform(*SERVICE))
        queues[place].push(one, 0.0)

    def take(place: int) -> None:
        for number in (place, *chance.sample(range(gateways), gateways)):
            one = queues[number].try_take(lambda _: StartVerdict.YES, 0.0)
            if one is not None:
                push(one.tenant, number)
                running.append((number, one))
                return

    for tenant in WEIGHTS:
        for place in places(tenant):
            for _ in range(BACKLOG):
                push(tenant, place)
    for slot in range(SLOTS):
        take(slot % gateways)
    for _ in range(SERVED):
        number, one = running.pop(chance.randrange(len(running)))
        queues[number].end(one, one.service)
        served[one.tenant] += one.service
        take(number)
    whole = sum(served.values())
    return {tenant: served[tenant] / whole for tenant in WEIGHTS}


def worst_error(found: dict[str, float]) -> float:
    """Of the fleet, by which a tenant's share is another than its weight's."""
    whole = sum(WEIGHTS.values())
    return max(abs(share - WEIGHTS[tenant] / whole) for tenant, share in found.items())


@pytest.mark.parametrize("seed", SEEDS)
def test_tenants_that_a_balancer_spreads_get_of_four_gateways_what_one_would_give(seed: int) -> None:
    one = worst_error(shares(1, lambda _: (0,), seed))
    four = worst_error(shares(GATEWAYS, lambda _: tuple(range(GATEWAYS)), seed))
    print(f"seed {seed}: {one:.4f} of the fleet by one queue, {four:.4f} by four")
    assert one <= BALANCED_ERROR
    assert four <= BALANCED_ERROR


@pytest.mark.parametrize("seed", SEEDS)
def test_a_tenant_that_keeps_to_one_gateway_gets_no_more_than_that_gateway_has(seed: int) -> None:
    """The bound that is stated for it: queues are each gateway's own."""

    def places(tenant: str) -> tuple[int, ...]:
        return (0,) if tenant == "d" else tuple(range(GATEWAYS))

    found = shares(GATEWAYS, places, seed)
    print(f"seed {seed}: {found['d']:.3f} of the fleet where weights say {WEIGHTS['d'] / sum(WEIGHTS.values()):.3f}")
    assert found["d"] <= 1 / GATEWAYS
    assert found["d"] == pytest.approx(0.5 / GATEWAYS, abs=BALANCED_ERROR)
    others = sum(share for tenant, share in found.items() if tenant != "d")
    for tenant in ("a", "b", "c"):
        assert found[tenant] / others == pytest.approx(WEIGHTS[tenant] / 4.0, abs=BALANCED_ERROR)


@pytest.mark.parametrize("skew", [0.0, 0.9])
def test_hedges_of_all_gateways_are_no_larger_a_share_of_requests_than_those_of_one(skew: float) -> None:
    share, requests, chance = 0.05, 20_000, random.Random(7)
    budgets = [HedgeBudget(share) for _ in range(GATEWAYS)]
    burst = 0
    for number in range(1, requests + 1):
        place = 0 if chance.random() < skew else chance.randrange(GATEWAYS)
        budgets[place].deposit()
        wants = number > requests / 2  # a quiet time saves some up
        before = sum(one.spent for one in budgets)
        while wants and budgets[place].try_spend():
            pass
        burst = max(burst, sum(one.spent for one in budgets) - before)
        assert sum(one.spent for one in budgets) <= share * number
    assert burst <= CREDIT_MAX
    second_half = sum(one.spent for one in budgets)
    assert second_half <= share * requests / 2 + GATEWAYS * CREDIT_MAX
