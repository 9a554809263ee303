"""What a request's record says of its promise and of our own part in how long it took."""

from functools import partial
from typing import Any

import pytest

from heterodyne.admission.callers import LOCAL
from heterodyne.admission.event_tokens import EventTokens
from heterodyne.admission.hold import Hold
from heterodyne.domain.operation import Operation
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.request import Request, Usage
from heterodyne.engines.openai import OpenAIDialect
from heterodyne.gateway.ended import ended_of
from heterodyne.gateway.finished import Finished, Try, count_usage
from heterodyne.gateway.fleet_view import ReplicaWire
from tests.support.replica_states import replica, router, routing_request
from tests.support.requests_copied import changed

WHERE = replica("a", hardware="h100-sxm")
ASKED = Request(id="req_1", operation=Operation.CHAT, model="m", body=b"{}", stream=True)


def finished(queued_s: float = 0.0, **facts: object) -> Finished:
    """Arrived at 10.000, sent at 10.004 plus its wait, first token 0.2 s after its decision, 20 ms a token."""
    hold = Hold(LOCAL, 10.0)
    hold.queued_s = queued_s
    decided_s = 10.001 + queued_s
    promised = routing_request(ttft_slo_s=0.25, itl_slo_s=0.05)
    usual: dict[str, Any] = dict(  # noqa: C408
        request=ASKED,
        routing_request=promised,
        hold=hold,
        choice=router(WHERE).decide(promised, (WHERE,), 0.0),
        wire=ReplicaWire(WHERE, OpenAIDialect()),
        status=200,
        reason="",
        reported=Usage(prompt_tokens=1000, completion_tokens=11),
        events=11,
        itl_s=0.02,
        started_at_s=decided_s,
        first_byte_at_s=decided_s + 0.2,
        first_token_at_s=decided_s + 0.2,
        ended_at_s=decided_s + 0.4,
        response_bytes=100,
        retries=0,
        continuations=0,
        is_hedged=False,
        tries=[Try(WHERE, decided_s + 0.001, decided_s + 0.003, decided_s + 0.4, status=200, outcome="success")],
        answer=[],
    )
    return Finished(**usual | facts)


def record(what: Finished) -> RequestRecord:
    count_usage(what, EventTokens())
    return ended_of(what, 0.0)


def test_a_promise_is_kept_in_time_and_broken_by_a_late_token_a_slow_stream_a_wait_or_an_error() -> None:
    assert record(finished()).promise == "kept"
    assert record(finished(first_token_at_s=10.3)).promise == "broken"
    assert record(finished(itl_s=0.06)).promise == "broken"
    assert record(finished(queued_s=0.1)).promise == "broken", "the client waited for both"
    assert record(finished(reason="engine_broke", status=502)).promise == "broken"


def test_an_answer_that_comes_whole_has_as_long_as_its_tokens_would_have_had() -> None:
    whole = changed(ASKED, stream=False)
    told = record(finished(request=whole, itl_s=None, first_token_at_s=10.8))
    assert (told.promise, told.ttft_ms) == ("kept", None), "250 ms and eleven tokens of 50 ms"
    assert record(finished(request=whole, itl_s=None, first_token_at_s=10.9)).promise == "broken"


def test_nothing_is_said_of_a_promise_that_was_not_made_or_that_nobody_waited_for() -> None:
    assert record(finished(routing_request=routing_request())).promise == ""
    assert record(finished(reason="client_gone", status=499)).promise == ""


@pytest.mark.parametrize(
    ("status", "reason", "promise"),
    [
        (400, "engine_refused", ""),
        (400, "context_length_exceeded", ""),
        (429, "rate_limit_exceeded", ""),
        (503, "no_spare_capacity", ""),
        (503, "engines_full", "broken"),
        (504, "deadline_exceeded", "broken"),
    ],
)
def test_a_clients_400_is_no_broken_promise(status: int, reason: str, promise: str) -> None:
    assert record(finished(status=status, reason=reason, first_byte_at_s=0.0, first_token_at_s=0.0)).promise == promise


def test_what_ended_without_a_replica_belongs_to_the_model_it_meant() -> None:
    asked = changed(ASKED, model="an alias")
    told = record(finished(request=asked, tries=[], wire=None, status=503, reason="draining"))
    assert (told.model, told.asked_model) == ("m", "an alias")


def test_our_own_part_is_what_is_neither_wait_nor_connection() -> None:
    told = record(finished(queued_s=3.0))
    assert told.overhead_ms == pytest.approx(2.0)
    assert told.connect_ms == pytest.approx(2.0)
    assert told.hardware == "h100-sxm"


def test_a_request_that_was_never_sent_took_nothing_of_ours() -> None:
    told = record(
        finished(tries=[], wire=None, first_byte_at_s=0.0, first_token_at_s=0.0, status=503, reason="draining")
    )
    assert (told.overhead_ms, told.connect_ms) == (0.0, None)


def test_an_answer_that_was_to_come_whole_is_charged_for_what_should_have_been_generated() -> None:
    whole = changed(ASKED, stream=False)
    facts = {
        "reported": None,
        "events": 0,
        "first_byte_at_s": 0.0,
        "first_token_at_s": 0.0,
        "reason": "client_gone",
        "status": 499,
    }
    cut_off = partial(finished, request=whole, **facts)
    gone = cut_off()
    assert gone.choice is not None
    forecast = gone.choice.forecast
    sent_at_s = gone.tries[-1].sent_at_s

    def used(after_s: float) -> tuple[int, int, bool]:
        told = record(cut_off(ended_at_s=sent_at_s + after_s))
        return told.prompt_tokens, told.completion_tokens, told.is_estimated

    assert used(0.5 * forecast.ttft_s) == (1000, 0, True), "its prompt was being computed"
    assert used(forecast.ttft_s + 10.5 * forecast.itl_s) == (1000, 10, True)
    assert used(3600.0) == (1000, 100, True), "no more than was set aside for it"


@pytest.mark.parametrize(
    ("reason", "stream", "sent", "prompt_tokens"),
    [
        ("client_gone", True, True, 1000),
        ("deadline_exceeded", True, True, 1000),
        ("engine_stalled", False, True, 1000),
        ("engine_stalled", True, True, 0),
        ("engine_broke", True, True, 0),
        ("engine_unavailable", True, False, 0),
        ("client_gone", True, False, 0),
        ("deadline_exceeded", False, False, 0),
    ],
)
def test_a_request_is_charged_from_when_it_is_sent_and_not_where_the_fleet_failed_it(
    reason: str, stream: bool, sent: bool, prompt_tokens: int
) -> None:
    one = finished()
    tries = one.tries[:1]
    if not sent:
        tries[0].sent_at_s = 0.0
    request = changed(ASKED, stream=stream)
    told = record(
        finished(
            request=request,
            reported=None,
            events=0,
            first_byte_at_s=0.0,
            first_token_at_s=0.0,
            reason=reason,
            status=500,
            tries=tries,
        )
    )
    assert told.prompt_tokens == prompt_tokens
    assert (told.replica_s > 0.0) is (prompt_tokens > 0)


def test_a_retried_request_names_who_failed_it() -> None:
    first, last = replica("b", hardware="h100-sxm"), finished().tries[0]
    failed = Try(first, 10.0, 0.0, 10.0, status=0, outcome="connect_failed")
    tries = [failed, Try(first, 10.0, 10.0, 10.0, status=0, outcome="cancelled"), last]
    [failed] = record(finished(retries=1, tries=tries)).failed_tries
    assert (failed.replica, failed.outcome) == (first.id, "connect_failed")
    assert record(finished()).failed_tries == ()
