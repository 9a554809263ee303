"""KV that another replica holds is fetched where that is sooner than to compute it."""

from math import inf

import pytest
from msgspec import structs

from heterodyne.domain.fleet import ReplicaId
from heterodyne.routing.kv.chain import chain_of_blocks
from heterodyne.routing.kv.fetch import MARGIN, SETUP_S, TOKENS_MIN, fetch_s
from tests.support.replica_states import ROUND, fleet, replica, router, routing_request

LINKED = structs.replace(ROUND, kv_fetch_token_s=1e-6)  # a hundredth of what computing a token takes


def test_a_fetch_takes_its_setup_and_the_tokens_that_are_missing() -> None:
    assert fetch_s(LINKED, 1.0, own_tokens=0, held_tokens=20_000) == pytest.approx(SETUP_S + 0.02)
    assert fetch_s(LINKED, 1.0, own_tokens=15_000, held_tokens=20_000) == pytest.approx(SETUP_S + 0.005)


def test_what_is_short_or_slow_to_move_is_computed() -> None:
    assert fetch_s(ROUND, 1.0, own_tokens=0, held_tokens=20_000) == inf, "nothing joins them"
    assert fetch_s(LINKED, 1.0, own_tokens=0, held_tokens=TOKENS_MIN - 1) == inf
    slow = structs.replace(ROUND, kv_fetch_token_s=2e-4)
    assert fetch_s(slow, 1.0, own_tokens=0, held_tokens=20_000) == inf
    assert fetch_s(slow, 3.0, own_tokens=0, held_tokens=20_000) < inf, "prompts take longer than was thought"


def test_a_gain_below_the_margin_is_left() -> None:
    tokens = 10_000
    even = structs.replace(ROUND, kv_fetch_token_s=ROUND.prompt_token_s - SETUP_S / tokens)
    assert fetch_s(even, 1.0, own_tokens=0, held_tokens=tokens) == inf
    worth = structs.replace(even, kv_fetch_token_s=even.kv_fetch_token_s * (1 - 2 * MARGIN))
    assert fetch_s(worth, 1.0, own_tokens=0, held_tokens=tokens) < inf


@pytest.mark.parametrize(("prior", "goes_to"), [(LINKED, "cold"), (ROUND, "warm")])
def test_a_prompt_leaves_a_busy_holder_where_its_kv_can_follow(prior: object, goes_to: str) -> None:
    replicas = (replica("warm"), replica("cold"))
    to = router(*replicas, priors={"p": prior})  # type: ignore[dict-item]
    long = routing_request(20_000, chain=chain_of_blocks(b"", range(39), 512))
    first = to.start(long, to.forecast(long, ReplicaId("warm"), 0.0), 0.0)
    first.first_token(2.0)
    first.end(3.0, output_tokens=50)
    for _ in range(2):
        other = routing_request(5_000)
        to.start(other, to.forecast(other, ReplicaId("warm"), 3.0), 3.0)
    choice = to.decide(long, fleet(*replicas).replicas, 3.0)
    assert choice.target.id == goes_to
    assert bool(choice.forecast.link_s) == (goes_to == "cold")
