"""A clock that is set far forward must not throw the books away, and one set back must not stop anything."""

from heterodyne.books.clock_step import STEADY_S, STEP_S, ClockStep
from heterodyne.ports.leases import NO_WINDOW, LeaseCall, Want
from heterodyne.stores.leases.memory import HOLDER_TTL_S, MemoryLeases


def test_a_clock_that_was_set_is_not_believed_for_a_while() -> None:
    now_s = 100.0
    step = ClockStep(lambda: now_s)
    assert not step.is_unsteady(1e9)
    now_s += 60
    assert not step.is_unsteady(1e9 + 60 + STEP_S / 2), "clocks drift and are slewed"
    assert step.is_unsteady(2e9)
    now_s += STEADY_S - 1
    assert step.is_unsteady(2e9 + STEADY_S - 1)
    now_s += 2
    assert not step.is_unsteady(2e9 + STEADY_S + 1), "it stays there, so it is right"
    assert step.is_unsteady(1e9), "backwards is a step as well"


def test_a_holder_that_dies_after_the_clock_was_set_back_gives_up_its_places() -> None:
    now_s = 1e9
    leases = MemoryLeases(clock=lambda: now_s)
    want = Want(counter="c", window=NO_WINDOW, ends_s=0.0, limit=1, at_least=1, wanted=1)
    leases.exchange_now(LeaseCall(holder="dies", sequence=1, groups=((want,),)))
    now_s -= 86400
    asked = LeaseCall(holder="lives", sequence=1, groups=((want,),))
    assert leases.exchange_now(asked).groups[0][0].amount == 0
    now_s += HOLDER_TTL_S + 1
    asked = LeaseCall(holder="lives", sequence=2, groups=((want,),))
    assert leases.exchange_now(asked).groups[0][0].amount == 1
