"""What was saved is what was measured against what was foretold, and what was foretold is checked by leaving it out."""

import pytest

from heterodyne.domain.kv_origin import KvOrigin
from heterodyne.routing.fabric.ledger import CHECKS_MIN, KvSaved
from tests.support.kv_fleets import KvFleet, asked, copying


def busy_holder(chance: float = 0.5) -> KvFleet:
    one = KvFleet(copying("a"), copying("b"), chance=lambda: chance)
    one.serve(asked(), "a")
    one.occupy("a")
    return one


def test_what_arrives_is_entered_with_what_it_saved() -> None:
    one = busy_holder()
    choice = one.decide(asked())
    assert choice.kv_plan is not None
    ticket = one.router.start(asked(), choice.forecast, one.now_s, choice.kv_plan)
    ticket.kv_arrived(one.now_s + 0.1)
    ticket.first_token(one.now_s + 0.5)
    ticket.end(one.now_s + 1.0, output_tokens=5, cached_tokens=19_000)
    saved = one.router.fabric.ledger.by_origin[KvOrigin.PEER]
    assert (saved.arrived, saved.failed, saved.byte_count) == (1, 0, choice.kv_plan.byte_count)
    assert saved.saved_s == pytest.approx(choice.plain.ttft_s - 0.5)


def test_whoever_brings_nothing_goes_by_the_best_without_it() -> None:
    choice = busy_holder().decide(asked())
    assert choice.kv_plan is not None
    plainly = choice.plainly()
    assert (plainly.kv_plan, plainly.forecast) == (None, choice.plain)
    assert plainly.plainly() is plainly


def test_what_fails_costs_what_it_took() -> None:
    one = busy_holder()
    choice = one.decide(asked())
    ticket = one.router.start(asked(), choice.forecast, one.now_s, choice.kv_plan)
    ticket.kv_failed(one.now_s + 1.0)
    ticket.first_token(one.now_s + choice.plain.ttft_s + 1.0)
    ticket.end(one.now_s + 9.0, output_tokens=5)
    saved = one.router.fabric.ledger.by_origin[KvOrigin.PEER]
    assert (saved.arrived, saved.failed, saved.usd) == (0, 1, 0.0)
    assert saved.saved_s == pytest.approx(-1.0)


def test_now_and_then_it_is_left_out_to_see_what_that_takes() -> None:
    one = busy_holder(chance=0.005)
    choice = one.decide(asked())
    assert choice.kv_plan is None
    assert choice.kv_withheld is not None
    assert choice.forecast is choice.plain
    ticket = one.router.start(asked(), choice.forecast, one.now_s, kv_withheld=choice.kv_withheld)
    ticket.first_token(one.now_s + 3.0)
    ticket.end(one.now_s + 4.0, output_tokens=5)
    assert one.router.fabric.ledger.by_origin[KvOrigin.PEER].checked == 1


def test_checks_correct_what_was_saved_once_there_are_enough() -> None:
    saved = KvSaved()
    saved.plain_s, saved.measured_s = 100.0, 40.0
    for number in range(CHECKS_MIN):
        assert saved.saved_s == 60.0, number
        saved.check(2.0, 1.0)
    assert saved.off == pytest.approx(0.5)
    assert saved.saved_s == pytest.approx(10.0)
