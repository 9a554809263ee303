"""A machine that fails under a gateway: it serves what it can, says what it cannot, and recovers by itself."""

from collections.abc import Iterator

import pytest

from tests.chaos.machine_cases import MACHINE, disk_full, row_unreadable
from tests.chaos.rig import Gateway, gateway
from tests.chaos.seen import Case


@pytest.fixture(scope="module")
def shaken() -> Iterator[Gateway]:
    """One for all of them: whatever one case breaks has to be well before the next."""
    with gateway() as one:
        yield one


def test_a_full_disk_ends_neither_worker_nor_supervisor_and_nothing_is_lost(shaken: Gateway) -> None:
    worker = shaken.worker
    shaken.begin()
    disk_full(shaken)
    assert shaken.worker == worker
    assert shaken.serve.process.poll() is None


def test_a_tenant_row_that_this_version_cannot_read_refuses_its_own_keys_and_ends_nothing(shaken: Gateway) -> None:
    shaken.begin()
    row_unreadable(shaken)
    assert shaken.serve.process.poll() is None


@pytest.mark.parametrize("case", [case for case in MACHINE if case.run not in (disk_full, row_unreadable)], ids=str)
def test_a_gateway_serves_what_it_can_and_recovers_by_itself(shaken: Gateway, case: Case) -> None:
    shaken.begin()
    case.run(shaken)
    assert shaken.serve.process.poll() is None, "the supervisor outlives it"
