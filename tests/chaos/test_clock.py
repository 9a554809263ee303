"""A clock that is set under a gateway: it serves on, and no budget is had twice."""

import pytest

from tests.chaos.clock_cases import CLOCK
from tests.chaos.seen import Case


@pytest.mark.parametrize("case", CLOCK, ids=str)
async def test_a_gateway_serves_what_it_can_and_recovers_by_itself(case: Case) -> None:
    await case.run()
