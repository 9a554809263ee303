"""A pool may be chosen by the console's playground, and by nobody else."""

from math import inf

import pytest

from heterodyne.admission.callers import CONSOLE, LOCAL
from heterodyne.admission.tokens import TokenEstimator
from heterodyne.domain.errors import InvalidField, NotAllowed
from heterodyne.domain.fleet import FleetSnapshot, Health, ModelRule, PoolName, Replica, ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.domain.routing_rule import RoutingRule
from heterodyne.gateway.routing_hints import NONE, read_routing_hints
from heterodyne.gateway.routing_request_builder import RoutingRequestBuilder
from heterodyne.routing.routing_request import RoutingRequest


class Prompt:
    """One that its bytes say."""

    whole_bytes = 0

    def __init__(self, text: bytes) -> None:
        self._text = text

    def whole(self) -> bytes:
        return self._text

    def opening(self) -> bytes:
        return self._text[:10]


def fleet(*pools: str) -> FleetSnapshot:
    replicas = [
        Replica(
            id=ReplicaId(f"{pool}-0"),
            pool=PoolName(pool),
            model="m",
            engine="openai",
            host="h",
            port=1,
            health=Health.READY,
        )
        for pool in pools
    ]
    return FleetSnapshot.of(1, replicas, {})


def routing_request(pool: str, tenant: bytes, model: str = "m") -> RoutingRequest:
    request = Request(id="1", operation=Operation.CHAT, model=model, body=b"{}")
    routing_hints = read_routing_hints({b"x-heterodyne-pool": pool.encode()})
    return RoutingRequestBuilder(TokenEstimator()).routing_request(request, routing_hints, tenant, fleet("a", "b"))


def test_the_console_has_its_pool() -> None:
    assert routing_request("b", CONSOLE.salt).pool == "b"


@pytest.mark.parametrize("tenant", [LOCAL.salt, b"", bytes(32), b"console"])
def test_nobody_else_has(tenant: bytes) -> None:
    with pytest.raises(NotAllowed, match="only the console's playground") as caught:
        routing_request("b", tenant)
    assert caught.value.param == "x-heterodyne-pool"


def test_a_pool_that_does_not_serve_the_model_is_named() -> None:
    with pytest.raises(InvalidField, match="no replica of the pool 'c' serves 'm'"):
        routing_request("c", CONSOLE.salt)


def test_a_model_that_nobody_serves_is_left_to_whoever_decides() -> None:
    assert routing_request("c", CONSOLE.salt, model="unknown").pool == "c"


def test_without_the_header_nothing_is_wished_for() -> None:
    assert read_routing_hints({b"host": b"h"}) is NONE
    assert (NONE.pool, NONE.ttft_slo_s) == ("", inf)


@pytest.mark.parametrize(("is_shared", "tenant"), [(True, b"tenant"), (False, LOCAL.salt), (True, LOCAL.salt)])
def test_nothing_is_kept_apart_where_it_is_shared_or_nobody_has_a_key(is_shared: bool, tenant: bytes) -> None:
    rules = {"m": ModelRule(routing=RoutingRule(is_kv_shared=is_shared))}
    fleet = FleetSnapshot.of(1, [], rules)
    assert RoutingRequestBuilder(TokenEstimator()).cache_salt("m", tenant, fleet) == ""


def test_tenants_are_kept_apart_unless_an_operator_says_that_they_share() -> None:
    builder, apart = RoutingRequestBuilder(TokenEstimator()), fleet("a", "b")
    assert len({builder.cache_salt("m", tenant, apart) for tenant in (b"one", b"two", CONSOLE.salt, LOCAL.salt)}) == 4
    prompt = b"the sea is wide " * 100
    for is_shared in (False, True):
        rules = {"m": ModelRule(routing=RoutingRule(is_kv_shared=is_shared))}
        snapshot = FleetSnapshot.of(2, apart.replicas, rules)
        request = Request(id="1", operation=Operation.CHAT, model="m", body=prompt, prompt=Prompt(prompt))
        first, second = (builder.routing_request(request, NONE, tenant, snapshot) for tenant in (b"one", b"two"))
        assert first.chain.hashes
        assert (first.chain == second.chain) is is_shared
