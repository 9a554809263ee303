"""The spans of a request, made of what is known at its end."""

from random import Random

import pytest
from msgspec import structs

from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.record import RequestRecord
from heterodyne.telemetry.tracing.context import Trace
from heterodyne.telemetry.tracing.facts import RequestFacts, TryFacts
from heterodyne.telemetry.tracing.sampling import SamplingReason
from heterodyne.telemetry.tracing.span import Span, SpanKind
from heterodyne.telemetry.tracing.spans import spans_of

EPOCH_NS = 1_700_000_000_000_000_000
RECORD = RequestRecord(
    id="req_1", at=0.0, operation="chat", model="m", status=200, stream=True, pool="p", replica="p-0"
)
FACTS = RequestFacts(
    trace=Trace(1, 2, 3, True, "a=b"),
    kept=SamplingReason.SAMPLED,
    record=RECORD,
    epoch_ns=EPOCH_NS,
    arrived_at_s=10.0,
    ended_at_s=20.0,
    first_at_s=13.0,
    operation="chat",
)


def tried(  # noqa: PLR0917  # four moments in their order
    number: int, asked: float, sent: float, first: float, ended: float, outcome: str = "success"
) -> TryFacts:
    replica = Replica(
        id=ReplicaId(f"p-{number}"), pool=PoolName("p"), model="m", engine="vllm", host="h", port=80, hardware="h100"
    )
    return TryFacts(
        span_id=100 + number,
        replica=replica,
        asked_at_s=asked,
        sent_at_s=sent,
        first_at_s=first,
        ended_at_s=ended,
        status=200 if first else 0,
        outcome=outcome,
    )


ONE = tried(0, 10.1, 10.2, 13.0, 20.0)


def spans(*tries: TryFacts, **changes: object) -> tuple[Span, ...]:
    return spans_of(structs.replace(FACTS, tries=tries, **changes), Random(1).getrandbits)


def tree(found: tuple[Span, ...]) -> list[tuple[str, str, float, float]]:
    """Each span with its parent's name and its times in seconds."""
    names = {span.span_id: span.name for span in found}
    return [
        (names.get(span.parent_id, ""), span.name, (span.start_ns - EPOCH_NS) / 1e9, (span.end_ns - EPOCH_NS) / 1e9)
        for span in found
    ]


def test_a_stream_is_told_from_its_arrival_to_its_end() -> None:
    found = spans(ONE)
    assert tree(found) == [
        ("", "chat m", 10.0, 20.0),
        ("chat m", "decide", 10.0, 10.1),
        ("chat m", "chat m", 10.1, 20.0),
        ("chat m", "connect", 10.1, 10.2),
        ("chat m", "first token", 10.2, 13.0),
        ("chat m", "stream", 13.0, 20.0),
    ]
    assert [span.kind for span in found[:3]] == [SpanKind.SERVER, SpanKind.INTERNAL, SpanKind.CLIENT]
    assert {(span.trace_id, span.state) for span in found} == {(1, "a=b")}
    assert (found[0].span_id, found[0].parent_id, found[0].is_parent_remote) == (2, 3, True)
    assert found[2].span_id == 100, "as the engine was told"
    assert found[0].attributes["gen_ai.response.time_to_first_chunk"] == 3.0
    assert not any(span.error for span in found)


def test_a_whole_answer_has_no_first_token() -> None:
    found = spans(ONE, record=structs.replace(RECORD, stream=False))
    assert [span.name for span in found[3:]] == ["connect", "answer"]
    assert "gen_ai.response.time_to_first_chunk" not in found[0].attributes


def test_a_wait_lies_between_the_decision_and_the_first_ask() -> None:
    found = spans(tried(0, 12.0, 12.1, 13.0, 20.0), wait_began_at_s=10.5, waited_s=1.5)
    assert tree(found)[1:4] == [
        ("chat m", "decide", 10.0, 10.5),
        ("chat m", "wait", 10.5, 12.0),
        ("chat m", "chat m", 12.0, 20.0),
    ]
    assert found[2].attributes["heterodyne.queue"] == "m"


def test_a_retry_shows_what_failed_before_it() -> None:
    failed = tried(1, 10.1, 0.0, 0.0, 10.3, "connect_failed")
    found = spans(tried(0, 10.4, 10.5, 13.0, 20.0), failed)
    attempts = [span for span in found if span.kind is SpanKind.CLIENT]
    assert [(one.error, one.attributes["heterodyne.attempt.role"]) for one in attempts] == [
        ("connect_failed", "first"),
        ("", "retry"),
    ]
    assert attempts[0].attributes["error.type"] == "connect_failed"
    assert [event.name for event in found[0].events] == ["retry"]
    assert found[0].events[0].attributes == {"heterodyne.replica": "p-0", "heterodyne.from_replica": "p-1"}
    assert not found[0].error, "the request ended well"


def test_a_continued_stream_is_linked_to_the_one_that_broke() -> None:
    found = spans(tried(0, 10.1, 10.2, 11.0, 14.0, "broke"), tried(1, 14.0, 14.1, 15.0, 20.0))
    attempts = [span for span in found if span.kind is SpanKind.CLIENT]
    assert [one.attributes["heterodyne.attempt.role"] for one in attempts] == ["first", "continuation"]
    assert [one.links for one in attempts] == [(), (100,)]
    assert [event.name for event in found[0].events] == ["continuation"]


def test_a_stream_is_linked_to_the_one_that_broke_and_not_to_its_rival() -> None:
    rival = tried(1, 10.5, 10.6, 0.0, 11.0, "cancelled")
    found = spans(tried(0, 10.1, 10.2, 11.0, 14.0, "broke"), rival, tried(2, 14.0, 14.1, 15.0, 20.0))
    assert [span.links for span in found if span.kind is SpanKind.CLIENT] == [(), (), (100,)]


def test_the_loser_of_a_hedge_has_not_failed() -> None:
    found = spans(tried(0, 10.1, 10.2, 0.0, 13.0, "cancelled"), tried(1, 12.0, 12.1, 13.0, 20.0))
    attempts = [span for span in found if span.kind is SpanKind.CLIENT]
    assert [(one.error, one.attributes["heterodyne.attempt.role"]) for one in attempts] == [
        ("", "first"),
        ("", "hedge"),
    ]
    assert attempts[0].attributes["heterodyne.attempt.outcome"] == "cancelled"
    assert "error.type" not in attempts[0].attributes


def test_a_refusal_is_one_span_and_its_wait() -> None:
    record = structs.replace(RECORD, status=503, reason="not_in_time", pool="", replica="", stream=False)
    found = spans(record=record, wait_began_at_s=10.1, waited_s=9.9, first_at_s=0.0)
    assert [span.name for span in found] == ["chat m", "decide", "wait"]
    assert (found[0].error, found[0].attributes["error.type"]) == ("not_in_time", "not_in_time")
    assert [span.name for span in spans(record=record, first_at_s=0.0)] == ["chat m"], "it did not wait"


def test_what_was_not_understood_is_named_by_its_route() -> None:
    record = RequestRecord(id="req_1", at=0.0, operation="refused", model="", status=404, reason="model_not_found")
    (found,) = spans(record=record, operation="", method="POST", route="/v1/chat/completions")
    assert (found.name, found.error) == ("POST /v1/chat/completions", "")
    assert found.attributes["error.type"] == "model_not_found"
    (unknown,) = spans(record=record, operation="", method="GET", route="")
    assert unknown.name == "GET"


@pytest.mark.parametrize(
    ("operation", "name"),
    [("chat", "chat m"), ("completion", "text_completion m"), ("embedding", "embeddings m"), ("infer", "infer m")],
)
def test_operations_have_the_names_of_the_conventions(operation: str, name: str) -> None:
    found = spans(ONE, operation=operation)
    assert found[0].name == name
    assert found[0].attributes["gen_ai.operation.name"] == name.removesuffix(" m")


def test_a_model_goes_by_the_name_its_client_used() -> None:
    found = spans(ONE, record=structs.replace(RECORD, asked_model="alias"))
    assert found[0].name == "chat alias"
    assert found[0].attributes["gen_ai.request.model"] == "alias"
    assert found[0].attributes["gen_ai.response.model"] == "m"


def test_children_lie_within_their_parents_whoever_noted_the_time() -> None:
    random = Random(3)
    for _ in range(500):
        moments = [random.uniform(9.0, 21.0) for _ in range(12)]
        found = spans(
            tried(0, *moments[0:4], "broke"),
            tried(1, *moments[4:8]),
            wait_began_at_s=moments[8],
            waited_s=moments[9] - 9.0,
            ended_at_s=max(10.0, moments[10]),
        )
        by_id = {span.span_id: span for span in found}
        for span in found[1:]:
            parent = by_id[span.parent_id]
            assert parent.start_ns <= span.start_ns <= span.end_ns <= parent.end_ns


def test_a_span_says_whose_project_asked_and_never_with_which_key() -> None:
    found = spans(ONE, record=structs.replace(RECORD, tenant="acme/search", key="key_secret", tier="gold"))
    assert found[0].attributes["heterodyne.tenant"] == "acme/search"
    assert not any("key_secret" in str(span) for span in found)
