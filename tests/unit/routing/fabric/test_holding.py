"""What a transfer takes of both sides is given back once, however it ends, and what it shows is learned."""

import pytest
from msgspec import structs

from heterodyne.domain.kv_origin import KvLoss, KvOrigin
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.routing.prediction.prior import Prior
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.ticket import Ticket
from tests.support.kv_fleets import LINKED, KvFleet, asked, copying, decoding, prefilling

QUICK: Prior = structs.replace(LINKED, prompt_token_s=1e-5)


def split(**facts: float) -> tuple[KvFleet, RoutingChoice, Ticket]:
    """`facts` are of both pools' priors."""
    priors = {"prompts": structs.replace(QUICK, **facts), "answers": structs.replace(LINKED, **facts)}
    one = KvFleet(prefilling(), decoding("d1"), decoding("d2"), priors=priors)
    choice = one.decide(asked())
    assert choice.kv_plan is not None
    return one, choice, one.router.start(asked(), choice.forecast, 0.0, choice.kv_plan)


def fetched() -> tuple[KvFleet, RoutingChoice, Ticket]:
    one = KvFleet(copying("a"), copying("b"))
    one.serve(asked(), "a")
    one.occupy("a", prompts=1)
    for state in states(one):
        state.speed.prompts = 5.0
    choice = one.decide(asked())
    assert choice.kv_plan is not None
    return one, choice, one.router.start(asked(), choice.forecast, one.now_s, choice.kv_plan)


def states(one: KvFleet) -> list[ReplicaState]:
    return list(one.router._states.values())


def prefill_of(choice: RoutingChoice) -> ReplicaState:
    assert choice.kv_plan is not None
    assert choice.kv_plan.prefill is not None
    return choice.kv_plan.prefill.state


def test_a_prompt_computed_for_another_is_in_the_queue_of_its_replica() -> None:
    _, choice, ticket = split()
    state = prefill_of(choice)
    assert (state.in_flight, state.waiting) == (1, 1)
    ticket.kv_prefilled(0.3)
    assert (state.in_flight, state.waiting) == (0, 0)


@pytest.mark.parametrize(
    "steps",
    [
        (),
        ("kv_prefilled",),
        ("kv_prefilled", "kv_arrived"),
        ("kv_arrived",),
        ("kv_failed",),
        ("kv_prefilled", "kv_failed"),
        ("kv_failed", "kv_arrived", "kv_prefilled"),
    ],
)
@pytest.mark.parametrize("begins", [True, False])
def test_nothing_is_left_however_a_hand_over_ends(steps: tuple[str, ...], begins: bool) -> None:
    one, _, ticket = split()
    for number, step in enumerate(steps):
        getattr(ticket, step)(0.3 + 0.1 * number)
    if begins:
        ticket.first_token(1.0)
    ticket.end(2.0, output_tokens=5, cached_tokens=19_000, is_complete=begins)
    assert all(snapshot.in_flight == 0 for snapshot in one.router.snapshot()[0])
    assert all(abs(snapshot.waiting_work_s) < 1e-9 for snapshot in one.router.snapshot()[0])
    assert one.router.fabric.is_still


def test_a_split_teaches_the_link_and_the_prefill_pool() -> None:
    one, choice, ticket = split()
    link = one.router.fabric.links.link("prompts", "answers")
    before = link.takes_s(2e9, 0.3)
    ticket.kv_prefilled(0.3)
    assert prefill_of(choice).speed.samples == 1
    ticket.kv_arrived(0.3 + 2 * before, 2e9)
    assert link.samples == 1
    assert link.takes_s(2e9, 1.0) > 1.5 * before


def test_a_late_arrival_makes_no_replica_look_slow() -> None:
    _, choice, ticket = split()
    ttft_s = choice.forecast.ttft_s
    ticket.kv_prefilled(0.3)
    ticket.kv_arrived(choice.forecast.link_s + 3.0, 2e9)
    assert ticket.forecast.ttft_s == pytest.approx(ttft_s + 3.0)
    prompts = ticket.state.speed.prompts
    ticket.first_token(ticket.forecast.ttft_s)
    assert ticket.state.speed.prompts == pytest.approx(prompts, rel=0.01)


def test_where_it_fails_everything_is_computed_and_expected_so() -> None:
    one, choice, ticket = split()
    work_s = choice.forecast.work_s
    ticket.kv_failed(0.5)
    assert ticket.forecast.work_s > 100 * work_s
    assert ticket.forecast.link_s == pytest.approx(0.5)
    assert ticket.state.waiting_work_s == pytest.approx(ticket.forecast.work_s)
    assert one.router.fabric.links.link("prompts", "answers").paused_until_s > 0.5


def test_an_answer_that_comes_whole_is_computed_after_all_as_well() -> None:
    one = KvFleet(prefilling(), decoding("d1"), decoding("d2"), priors={"prompts": QUICK})
    request = asked(streams=False)
    choice = one.decide(request)
    ticket = one.router.start(request, choice.forecast, 0.0, choice.kv_plan)
    ticket.kv_failed(0.5)
    ticket.end(4.0, output_tokens=5)
    assert all(snapshot.in_flight == 0 for snapshot in one.router.snapshot()[0])


def test_the_prefill_replica_remembers_the_prompt() -> None:
    one, _, ticket = split()
    ticket.kv_prefilled(0.3)
    ticket.kv_arrived(0.4, 2e9)
    prefill = one.fleet.prefill["m"][0]
    assert one.router.forecast(asked(), prefill.id, 1.0).cached_tokens > 10_000


@pytest.mark.parametrize(("cached_tokens", "failed"), [(19_999, False), (0, True)])
def test_an_engine_that_fetches_by_itself_tells_at_the_end_whether_it_did(cached_tokens: int, failed: bool) -> None:
    shared = {"s": KvStoreSettings(medium="memory", capacity_gb=100.0)}
    one = KvFleet(copying("a", kv_store="s"), copying("b", kv_store="s"), stores=shared)
    one.serve(asked(), "a")
    one.router._index.forget(0)
    choice = one.decide(asked())
    assert choice.kv_plan is not None
    assert choice.kv_plan.origin is KvOrigin.STORE
    ticket = one.router.start(asked(), choice.forecast, one.now_s, choice.kv_plan)
    ticket.first_token(one.now_s + choice.forecast.ttft_s)
    ticket.end(one.now_s + 5.0, output_tokens=9, cached_tokens=cached_tokens)
    link = one.router.fabric.link_from_store(choice.forecast.state)
    assert (link.paused_until_s > 0.0) == failed
    assert link.samples == (0 if failed else 1)


@pytest.mark.parametrize("known", [0.0, 1e5])
def test_what_a_token_takes_is_learned_from_bytes_where_physics_does_not_say(known: float) -> None:
    one, choice, ticket = split(kv_token_bytes=known)
    before = one.router.fabric.token_bytes(choice.forecast.state)
    ticket.kv_prefilled(0.3)
    ticket.kv_arrived(0.5, 20_000 * before * 2)
    after = one.router.fabric.token_bytes(choice.forecast.state)
    assert after == before if known else before < after <= 2 * before


def test_a_prompt_that_is_not_where_it_was_thought_to_be_is_not_the_fault_of_the_link() -> None:
    one, choice, ticket = fetched()
    assert choice.kv_plan is not None
    source = choice.kv_plan.source
    assert source is not None
    ticket.kv_failed(one.now_s + 0.1, KvLoss.MISSING)
    assert one.router.fabric.links.link("p", "p").paused_until_s <= one.now_s
    assert one.router.forecast(asked(), source.replica.id, one.now_s).cached_tokens == 0


def test_ten_thousand_cancelled_hand_overs_leave_nothing() -> None:
    one, choice, ticket = split()
    ticket.end(0.1, output_tokens=0, is_complete=False)
    assert choice.kv_plan is not None
    for number in range(10_000):
        ticket = one.router.start(asked(10), choice.forecast, 1.0 + number, choice.kv_plan)
        if number % 3:
            ticket.kv_prefilled(1.1 + number)
        ticket.end(1.2 + number, output_tokens=0, is_complete=False)
    assert all(snapshot.in_flight == 0 for snapshot in one.router.snapshot()[0])
    assert one.router.fabric.is_still


def test_fetched_kv_is_there_for_the_next_request() -> None:
    one, choice, ticket = fetched()
    ticket.kv_arrived(one.now_s + 0.1, 1e9)
    ticket.first_token(one.now_s + 0.2)
    ticket.end(one.now_s + 1.0, output_tokens=5, cached_tokens=19_999)
    assert one.router.forecast(asked(), choice.target.id, one.now_s + 2.0).cached_tokens > 0.6 * 20_000
