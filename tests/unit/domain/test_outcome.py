"""How a request ended, in one vocabulary."""

from collections.abc import Iterator

import pytest

from heterodyne.domain.errors import (
    CallerError,
    ClientGone,
    EngineError,
    EngineRefused,
    GatewayError,
    HeterodyneError,
    LimitReached,
    NoSpareCapacity,
)
from heterodyne.domain.outcome import FAULTS, REFUSALS, RequestOutcome, is_fault, outcome_of
from heterodyne.domain.usage import ENGINE_ERROR_EVENT, GATEWAY_KILLED


def _under(kind: type[HeterodyneError]) -> Iterator[type[HeterodyneError]]:
    for one in kind.__subclasses__():
        yield one
        yield from _under(one)


def test_an_answer_without_a_reason_is_ok() -> None:
    assert outcome_of(200, "") is RequestOutcome.OK


@pytest.mark.parametrize("kind", [*_under(CallerError)], ids=lambda kind: kind.__name__)
def test_what_a_caller_must_change_is_never_the_fleets_fault(kind: type[CallerError]) -> None:
    assert not is_fault(kind.status, kind.code)
    expected = {
        **dict.fromkeys((LimitReached, *_under(LimitReached)), RequestOutcome.REFUSED_LIMIT),
        ClientGone: RequestOutcome.CANCELLED,
    }.get(kind, RequestOutcome.CLIENT_ERROR)
    assert outcome_of(kind.status, kind.code) is expected


@pytest.mark.parametrize("kind", [*_under(GatewayError), *_under(EngineError)], ids=lambda kind: kind.__name__)
def test_what_we_or_a_replica_fail_at_is_the_fleets_fault(kind: type[HeterodyneError]) -> None:
    assert is_fault(kind.status, kind.code) is (kind is not NoSpareCapacity)


def test_batch_work_that_found_no_room_is_a_refusal_and_no_fault() -> None:
    outcome = outcome_of(NoSpareCapacity.status, NoSpareCapacity.code)
    assert outcome in REFUSALS
    assert outcome not in FAULTS


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (400, RequestOutcome.CLIENT_ERROR),
        (401, RequestOutcome.ENGINE_ERROR),
        (404, RequestOutcome.CLIENT_ERROR),
        (429, RequestOutcome.REFUSED_CAPACITY),
        (500, RequestOutcome.ENGINE_ERROR),
        (503, RequestOutcome.REFUSED_CAPACITY),
    ],
)
def test_an_engines_own_refusal_is_judged_by_its_status(status: int, outcome: RequestOutcome) -> None:
    assert outcome_of(status, EngineRefused.code) is outcome


def test_a_worker_that_was_killed_is_our_fault() -> None:
    assert outcome_of(500, GATEWAY_KILLED) is RequestOutcome.INTERNAL_ERROR


@pytest.mark.parametrize("reason", [ENGINE_ERROR_EVENT, "engine_broke"])
def test_a_stream_that_broke_after_its_200_has_failed(reason: str) -> None:
    assert outcome_of(200, reason) is RequestOutcome.ENGINE_ERROR


def test_a_code_that_this_version_does_not_know_is_judged_by_its_status() -> None:
    assert outcome_of(599, "of_the_future") is RequestOutcome.INTERNAL_ERROR
    assert outcome_of(418, "of_the_future") is RequestOutcome.CLIENT_ERROR
    assert outcome_of(200, "of_the_future") is RequestOutcome.INTERNAL_ERROR, "it is no whole answer"
