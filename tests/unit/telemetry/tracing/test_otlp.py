"""Spans on their way to a collector: never lost without a count, never at a request's expense."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import structlog
from msgspec import structs
from structlog.typing import EventDict

from heterodyne.telemetry import metrics
from heterodyne.telemetry.tracing import otlp
from heterodyne.telemetry.tracing.otlp import OtlpExporter
from heterodyne.telemetry.tracing.span import Event, Span, SpanKind
from tests.support.otlp_collector import CLIENT, ERROR, Collector, collecting


def span(number: int = 1) -> Span:
    return Span(
        name="s",
        kind=SpanKind.CLIENT,
        trace_id=1,
        span_id=number,
        parent_id=9,
        state="a=b",
        start_ns=5,
        end_ns=8,
        attributes={"text": "t", "is": True, "number": 3, "share": 0.5},
        events=(Event(name="e", at_ns=6, attributes={"k": "v"}),),
        links=(7,),
        error="broke",
    )


@contextmanager
def exporting(url: str, **headers: str) -> Iterator[OtlpExporter]:
    exporter = OtlpExporter(url, headers, resource={"service.name": "heterodyne"}, version="1", interval_s=0.01)
    try:
        yield exporter
    finally:
        exporter.close()


def counted() -> dict[str, float]:
    dropped = {sample.labels[0]: sample.values[0] for sample in metrics.spans_dropped.samples()}
    return {"exported": metrics.spans_exported.cell(())[0], **dropped}


def since(before: dict[str, float]) -> dict[str, float]:
    return {name: count - before.get(name, 0.0) for name, count in counted().items() if count != before.get(name, 0.0)}


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as one:
        yield one


@pytest.fixture
def events() -> Iterator[list[EventDict]]:
    with structlog.testing.capture_logs() as logged:
        yield logged


def test_a_span_arrives_as_it_was_added(collector: Collector) -> None:
    before = counted()
    with exporting(collector.url, authorization="Bearer token") as exporter:
        exporter.add((span(),))
    (seen,) = collector.spans
    assert (seen.name, seen.kind, seen.status, seen.state) == ("s", CLIENT, ERROR, "a=b")
    assert (seen.trace_id, seen.span_id, seen.parent_id) == (f"{1:032x}", f"{1:016x}", f"{9:016x}")
    assert seen.attributes == {"text": "t", "is": True, "number": 3, "share": 0.5}
    assert (seen.events, seen.links) == ([("e", {"k": "v"})], [f"{7:016x}"])
    assert (seen.start_ns, seen.end_ns) == (5, 8)
    assert collector.resource == {"service.name": "heterodyne"}
    assert collector.paths == ["/v1/traces"]
    assert collector.headers[0]["authorization"] == "Bearer token"
    assert collector.headers[0]["content-type"] == "application/x-protobuf"
    assert since(before) == {"exported": 1}


def test_what_protobuf_cannot_say_costs_no_other_span(collector: Collector) -> None:
    odd = structs.replace(span(2), name="\ud800", attributes={"huge": 10**30, "half": "é\ud800", "least": -(10**30)})
    with exporting(collector.url) as exporter:
        exporter.add((span(1), odd, span(3)))
    assert [one.name for one in collector.spans] == ["s", "?", "s"]
    assert collector.spans[1].attributes == {"huge": 2**63 - 1, "half": "é?", "least": 1 - 2**63}


def test_everything_that_waits_is_sent_at_the_end_in_batches(collector: Collector) -> None:
    with exporting(collector.url) as exporter:
        exporter.add(tuple(map(span, range(1, 2 * otlp.BATCH_MAX + 2))))
    assert [one.span_id for one in collector.spans] == [f"{n:016x}" for n in range(1, 2 * otlp.BATCH_MAX + 2)]
    assert len(collector.bodies) == 3


def test_there_is_no_room_for_ever_more(collector: Collector) -> None:
    before = counted()
    with exporting(collector.url) as exporter:
        exporter.add(tuple(map(span, range(otlp.QUEUE_MAX + 1))))
    assert since(before) == {"full": otlp.QUEUE_MAX + 1}
    assert not collector.paths


def test_a_collector_that_is_busy_gets_the_same_again_and_is_told_of_once(
    collector: Collector, events: list[EventDict]
) -> None:
    before = counted()
    collector.answers = [503, 429]
    with exporting(collector.url) as exporter:
        exporter.add((span(),))
        collector.wait_requests(3)
    assert len(collector.spans) == 1
    assert since(before) == {"exported": 1}
    assert [event["event"] for event in events] == ["traces_not_exported", "traces_exported_again"]


def test_what_a_collector_will_never_take_is_let_go(collector: Collector, events: list[EventDict]) -> None:
    before = counted()
    collector.answers = [400]
    with exporting(collector.url) as exporter:
        exporter.add((span(1), span(2)))
        collector.wait_requests(1)
        exporter.add((span(3),))
    assert [one.span_id for one in collector.spans] == [f"{3:016x}"]
    assert since(before) == {"exported": 1, "rejected": 2}
    assert events[0]["error"] == "HTTP 400"


def test_spans_that_a_collector_rejects_are_counted(collector: Collector) -> None:
    before = counted()
    collector.rejects = 1
    with exporting(collector.url) as exporter:
        exporter.add((span(1), span(2)))
    assert since(before) == {"exported": 1, "rejected": 1}


def test_secrets_do_not_follow_a_redirect(collector: Collector) -> None:
    collector.answers = [307]
    with exporting(collector.url, authorization="Bearer token") as exporter:
        exporter.add((span(),))
    assert collector.paths == ["/v1/traces"]


def test_nobody_at_the_address_costs_a_line_and_not_the_end(events: list[EventDict]) -> None:
    before = counted()
    with collecting() as collector:
        url = collector.url
    with exporting(url) as exporter:
        exporter.add((span(1), span(2)))
    assert since(before) == {"unreachable": 2}
    assert [(event["event"], event["url"]) for event in events] == [("traces_not_exported", url)]


def test_without_the_library_it_is_said_what_to_install() -> None:
    script = (
        "import sys; sys.modules['opentelemetry'] = None\n"
        "from heterodyne.telemetry.tracing.otlp import OtlpExporter\n"
        "from heterodyne.domain.errors import SettingsInvalid\n"
        "try:\n    OtlpExporter('http://h', {}, resource={}, version='1')\n"
        "except SettingsInvalid as error:\n    print(error)\n"
    )
    assert _printed(script) == "telemetry.traces_url: OpenTelemetry is not installed; pip install 'heterodyne[otel]'\n"


def test_a_worker_that_traces_nobody_loads_nothing_of_opentelemetry() -> None:
    script = "import sys, heterodyne.assembly.worker; print([name for name in sys.modules if 'opentelemetry' in name])"
    assert _printed(script) == "[]\n"


def _printed(script: str) -> str:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
