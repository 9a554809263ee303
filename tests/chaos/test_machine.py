"""A machine that fails under a gateway: it serves what it can, says what it cannot, and recovers by itself."""

from collections.abc import Iterator

import pytest

from tests.chaos.machine_cases import MACHINE
from tests.chaos.rig import Gateway, gateway
from tests.chaos.seen import Case


@pytest.fixture(scope="module")
def shaken() -> Iterator[Gateway]:
    """One for all of them: whatever one case breaks has to be well before the next."""
    with gateway() as one:
        yield one


@pytest.mark.parametrize("case", MACHINE, ids=str)
def test_a_gateway_stands(shaken: Gateway, case: Case) -> None:
    shaken.begin()
    case.run(shaken)
    assert shaken.serve.process.poll() is None, "the supervisor outlives it"
