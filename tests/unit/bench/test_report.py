"""The report of a run."""

import msgspec
import pytest
from rich.console import Console

from heterodyne.bench.failure import BenchFailure, ExchangeFailed
from heterodyne.bench.plan import BenchPlan
from heterodyne.bench.report import make_report
from heterodyne.bench.table import render
from heterodyne.bench.tally import BenchTally, ResponseTiming

PLAN = BenchPlan(url="http://127.0.0.1:1", model="m", rate_requests_per_s=5.0, requests=4)


def timing(*, meant_at_s: float, sent_at_s: float, is_usage_reported: bool = True) -> ResponseTiming:
    return ResponseTiming(
        meant_at_s=meant_at_s,
        sent_at_s=sent_at_s,
        content_at_s=[meant_at_s + 1.0, meant_at_s + 1.1, meant_at_s + 1.3],
        finished_at_s=meant_at_s + 2.0,
        prompt_tokens=10,
        completion_tokens=3,
        is_usage_reported=is_usage_reported,
    )


def tally() -> BenchTally:
    counts = BenchTally()
    counts.sent = 4
    counts.add(timing(meant_at_s=0.0, sent_at_s=0.0))
    counts.add(timing(meant_at_s=1.0, sent_at_s=1.5, is_usage_reported=False))
    counts.add_failure(ExchangeFailed(BenchFailure.HTTP_429, "HTTP 429: slow down"))
    counts.add_failure(ExchangeFailed(BenchFailure.HTTP_429, "HTTP 429: slower"))
    return counts


def test_latency_counts_from_the_intended_time() -> None:
    report = make_report(PLAN, tally(), elapsed_s=4.0)
    assert report.ttft_ms is not None
    assert report.e2e_ms is not None
    assert report.send_delay_ms is not None
    assert report.ttft_ms.p50 == pytest.approx(1000, rel=0.01)
    assert report.e2e_ms.highest == pytest.approx(2000)
    assert report.send_delay_ms.highest == pytest.approx(500)


def test_gaps_between_content_events_are_the_itl() -> None:
    report = make_report(PLAN, tally(), elapsed_s=4.0)
    assert report.itl_ms is not None
    assert report.itl_ms.count == 4
    assert report.itl_ms.mean == pytest.approx(150)


def test_rates_and_tokens_count_answers_only() -> None:
    report = make_report(PLAN, tally(), elapsed_s=4.0)
    assert (report.requests_per_s, report.requests_per_s_asked) == (0.5, 5.0)
    assert (report.prompt_tokens_per_s, report.completion_tokens_per_s) == (5.0, 1.5)
    assert report.usages_reported == 1


def test_failures_are_counted_by_kind_with_one_example() -> None:
    report = make_report(PLAN, tally(), elapsed_s=4.0)
    assert report.failures == {"http_429": 2}
    assert report.failure_examples == {"http_429": "HTTP 429: slow down"}


def test_a_run_without_answers_still_has_a_report() -> None:
    report = make_report(PLAN, BenchTally(), elapsed_s=0.0)
    assert report.e2e_ms is None
    assert report.requests_per_s == 0.0
    assert msgspec.json.decode(msgspec.json.encode(report))["ttft_ms"] is None


def test_the_table_shows_numbers_and_failures() -> None:
    console = Console(record=True, width=120, file=None, quiet=False)
    with console.capture() as capture:
        console.print(render(make_report(PLAN, tally(), elapsed_s=4.0)))
    text = capture.get()
    for words in ("TTFT", "p99.9", "2 http_429: HTTP 429: slow down", "1 answers reported no usage", "left late"):
        assert words in text
