"""A report as a table for people."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from heterodyne.bench.report import BenchReport, Quantiles

SEND_DELAY_NOTABLE_MS = 10.0


def render(report: BenchReport) -> RenderableType:
    """Numbers first, then what went wrong."""
    latencies = (Text(), _latencies(report)) if report.succeeded else ()
    return Group(_summary(report), *latencies, *_failures(report), *_remarks(report))


def _summary(report: BenchReport) -> Table:
    table = Table.grid(padding=(0, 2))
    loop = (
        f"open loop, {report.requests_per_s_asked:g} requests/s asked"
        if report.requests_per_s_asked is not None
        else f"closed loop, concurrency {report.concurrency}"
    )
    form = "stream" if report.stream else "whole answer"
    table.add_row("Target", f"{report.url}  {report.model}  {report.operation}, {form}")
    table.add_row("Load", f"{loop}, {report.elapsed_s:.1f} s, seed {report.seed}")
    table.add_row("Requests", f"{report.sent:,} sent, {report.succeeded:,} succeeded, {report.failed:,} failed")
    table.add_row("Achieved", f"{report.requests_per_s:,.1f} requests/s")
    table.add_row("Tokens/s", f"{report.prompt_tokens_per_s:,.0f} in, {report.completion_tokens_per_s:,.0f} out")
    return table


def _latencies(report: BenchReport) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("ms", "p50", "p95", "p99", "p99.9", "mean", "highest"):
        table.add_column(name, justify="left" if name == "ms" else "right")
    rows = (("TTFT", report.ttft_ms), ("ITL", report.itl_ms), ("End to end", report.e2e_ms))
    for name, quantiles in rows:
        if quantiles is not None:
            table.add_row(name, *_cells(quantiles))
    return table


def _cells(quantiles: Quantiles) -> tuple[str, ...]:
    values = (quantiles.p50, quantiles.p95, quantiles.p99, quantiles.p99_9, quantiles.mean, quantiles.highest)
    return tuple(f"{value:,.2f}" for value in values)


def _failures(report: BenchReport) -> list[Text]:
    return [
        Text(f"{count:,} {kind}: {report.failure_examples.get(kind, '')}", style="red")
        for kind, count in report.failures.items()
    ]


def _remarks(report: BenchReport) -> list[Text]:
    remarks = []
    if report.is_interrupted:
        remarks.append("Interrupted: requests in flight at that moment are not counted.")
    if report.usages_reported < report.succeeded and report.operation != "embedding":
        missing = report.succeeded - report.usages_reported
        remarks.append(f"{missing:,} answers reported no usage: their tokens are counted by content events.")
    delay = report.send_delay_ms
    if delay is not None and delay.p99 > SEND_DELAY_NOTABLE_MS:
        remarks.append(
            f"Requests left late (p99 {delay.p99:,.1f} ms): the limit of requests in flight or of this machine."
        )
    return [Text(remark, style="yellow") for remark in remarks]
