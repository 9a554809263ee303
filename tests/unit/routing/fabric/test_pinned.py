"""What replicas keep for others is counted until it is read, or its lease ends, and prompts go where there is room."""

from heterodyne.routing.fabric.pinned import PinnedKv
from tests.support.kv_fleets import PROMPT_TOKENS, KvFleet, asked, decoding, prefilling
from tests.unit.routing.fabric.test_choice import WEAK


def test_what_is_held_and_what_is_left_add_up_until_leases_end() -> None:
    pinned = PinnedKv()
    assert (pinned.tokens(0, 0.0), pinned.is_empty) == (0.0, True)
    pinned.hold(0, 100.0)
    pinned.leave(0, 50.0, 30.0)
    pinned.leave(0, 7.0, 40.0)
    assert (pinned.tokens(0, 10.0), pinned.tokens(1, 10.0)) == (157.0, 0.0)
    pinned.let_go(0, 100.0)
    assert (pinned.tokens(0, 29.0), pinned.tokens(0, 30.0), pinned.tokens(0, 40.0)) == (57.0, 7.0, 0.0)
    assert pinned.is_empty


def test_what_was_read_after_all_is_taken_back_once() -> None:
    pinned = PinnedKv()
    pinned.leave(0, 50.0, 30.0)
    pinned.leave(0, 50.0, 30.0)
    pinned.take_back(0, 50.0, 30.0)
    assert pinned.tokens(0, 0.0) == 50.0
    pinned.take_back(0, 50.0, 30.0)
    pinned.take_back(0, 50.0, 30.0)
    assert pinned.is_empty


def test_a_replica_that_restarts_keeps_nothing() -> None:
    pinned = PinnedKv()
    pinned.hold(0, 5.0)
    pinned.leave(0, 50.0, 30.0)
    pinned.forget(0)
    assert pinned.is_empty


def test_no_prompt_is_handed_over_by_a_replica_without_room() -> None:
    one = KvFleet(prefilling(), decoding(), priors={"answers": WEAK})
    state = one.router.state(one.fleet.replicas[0].id)
    assert state is not None
    one.router.fabric.pinned.leave(state.place, state.kv_tokens - PROMPT_TOKENS + 1.0, 30.0)
    assert one.decide(asked()).kv_options == ()
    one.now_s = 30.0
    assert one.decide(asked()).kv_plan is not None


def test_a_hand_over_is_pinned_from_when_it_is_computed_until_it_is_over() -> None:
    one = KvFleet(prefilling(), decoding(), priors={"answers": WEAK})
    choice = one.decide(asked())
    plan = choice.kv_plan
    assert plan is not None
    assert plan.source is not None
    ticket = one.router.start(asked(), choice.forecast, 0.0, plan)
    pinned = one.router.fabric.pinned
    assert pinned.is_empty
    ticket.kv_prefilled(2.0)
    assert pinned.tokens(plan.source.place, 2.0) == PROMPT_TOKENS
    ticket.end(3.0, output_tokens=0, is_complete=False)
    assert pinned.is_empty
