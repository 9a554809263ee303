"""What an attempt's end says about its replica."""

import pytest

from heterodyne.routing.health.outcome import FAILURES, Outcome


@pytest.mark.parametrize("outcome", [Outcome.SUCCESS, Outcome.REFUSED_BUSY, Outcome.CALLER_ERROR, Outcome.CANCELLED])
def test_neither_success_nor_busyness_nor_the_caller_is_a_failure(outcome: Outcome) -> None:
    assert outcome not in FAILURES


def test_everything_else_is_a_failure() -> None:
    assert len(FAILURES) == len(Outcome) - 4
