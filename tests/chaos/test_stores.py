"""Stores that die under a gateway: the last good snapshot serves on, and what needs them says so."""

from collections.abc import Iterator

import pytest

from tests.chaos.seen import Case
from tests.chaos.store_cases import STORE, Shop, shop


@pytest.fixture(scope="module")
def shaken() -> Iterator[Shop]:
    with shop() as one:
        yield one


@pytest.mark.parametrize("case", STORE, ids=str)
def test_a_gateway_serves_what_it_can_and_recovers_by_itself(shaken: Shop, case: Case) -> None:
    shaken.gateway.begin()
    case.run(shaken)
    assert shaken.gateway.serve.process.poll() is None, "the supervisor outlives it"
