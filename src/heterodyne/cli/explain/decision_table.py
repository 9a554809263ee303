"""Decisions as columns for people."""

from datetime import UTC, datetime
from math import floor, log10

import click

from heterodyne.cli.output import print_table
from heterodyne.console.decisions.pages import DecisionPage
from heterodyne.domain.record import RequestRecord
from heterodyne.routing.explanation.explanation import (
    Candidate,
    ExplainedRequest,
    Explanation,
    PastDecision,
    PredictedRange,
    SloOutlook,
)

NOTHING = "-"
HEADER = ("REPLICA", "HARDWARE", "REGION", "TTFT ms", "ITL ms", "WAIT ms", "LOAD", "CACHED", "$ REQUEST", "$/1M",
          "PROMISE", "DECISION", "WHY")  # fmt: skip
LATEST_HEADER = ("AT (UTC)", "REQUEST", "MODEL", "REPLICA", "WHY", "STATUS", "TTFT ms", "PREDICTED", "ITL ms",
                 "PREDICTED", "$")  # fmt: skip
SLO_WORDS = {
    SloOutlook.KEPT: "keeps it",
    SloOutlook.LIKELY: "probably",
    SloOutlook.CROWDED: "over capacity",
    SloOutlook.BROKEN: "misses it",
    None: NOTHING,
}


def print_explanation(explanation: Explanation) -> None:
    """The table, the conclusion, and on stderr what else there is to know."""
    _print_tables(explanation)
    click.echo(explanation.conclusion)
    for note in explanation.notes:
        click.echo(note, err=True)


def print_past(past: PastDecision) -> None:
    """The table, and what was predicted beside what was."""
    _print_tables(past.explanation)
    click.echo(past.explanation.conclusion)
    if past.record is not None:
        click.echo()
        print_table(("", "PREDICTED", "ACTUAL"), outcome_rows(past.explanation, past.record))
    for note in past.explanation.notes:
        click.echo(note, err=True)


def print_latest(page: DecisionPage) -> None:
    """One line per request."""
    print_table(LATEST_HEADER, [latest_row(record) for record in page.decisions])


def table_rows(explanation: Explanation) -> list[list[str]]:
    """One line per replica."""
    return [
        [
            one.replica,
            _hardware(one),
            one.region or NOTHING,
            span_in_words(one.ttft),
            span_in_words(one.itl),
            number_in_words(one.wait_ms),
            f"{one.load:.0%}",
            str(one.cached_tokens),
            usd_in_words(one.usd),
            usd_in_words(one.usd_per_million_tokens),
            SLO_WORDS[one.promise],
            one.verdict.value,
            one.reason,
        ]
        for one in explanation.candidates
    ]


def asked_in_words(asked: ExplainedRequest) -> str:
    """What was asked, in a line."""
    promised = [
        f"{name} {limit_ms:g} ms"
        for name, limit_ms in (("TTFT", asked.slo_ttft_ms), ("ITL", asked.slo_itl_ms))
        if limit_ms is not None
    ]
    promise = f"promised {', '.join(promised)}" if promised else "nothing promised"
    tokens = f"{asked.prompt_tokens} prompt tokens, {asked.output_tokens:.0f} expected"
    return f"{asked.model}: policy {asked.policy}, {asked.urgency}, {tokens}, {promise}"


def outcome_rows(explanation: Explanation, record: RequestRecord) -> list[list[str]]:
    """What was predicted for the replica that was chosen, and what was."""
    asked, chosen = explanation.asked, explanation.candidates[0]
    total_ms = chosen.ttft.ms + chosen.itl.ms * max(0.0, asked.output_tokens - 1)
    ttft_ms = record.ttft_ms if record.stream else None  # an answer that comes whole has no first token to see
    return [
        ["replica", chosen.replica, record.replica],
        ["TTFT ms", span_in_words(chosen.ttft), number_in_words(ttft_ms)],
        ["ITL ms", span_in_words(chosen.itl), number_in_words(record.itl_ms)],
        ["total ms", number_in_words(total_ms), number_in_words(record.total_ms)],
        ["prompt tokens", str(asked.prompt_tokens), str(record.prompt_tokens)],
        ["cached tokens", str(chosen.cached_tokens), str(record.cached_tokens)],
        ["answer tokens", f"{asked.output_tokens:.0f}", str(record.completion_tokens)],
        ["status", "", f"{record.status} {record.reason}".rstrip()],
    ]


def latest_row(record: RequestRecord) -> list[str]:
    """One request."""
    return [
        datetime.fromtimestamp(record.at, UTC).strftime("%H:%M:%S.%f")[:-3],
        record.id,
        record.model,
        record.replica,
        record.decision.replace("_", " "),
        f"{record.status} {record.reason}".rstrip(),
        number_in_words(record.ttft_ms),
        number_in_words(record.predicted_ttft_ms),
        number_in_words(record.itl_ms),
        number_in_words(record.predicted_itl_ms),
        usd_in_words(record.usd),
    ]


def span_in_words(span: PredictedRange) -> str:
    """The middle, and the ends that eight in ten lie between."""
    return f"{number_in_words(span.ms)} ({number_in_words(span.low_ms)}-{number_in_words(span.high_ms)})"


def number_in_words(value: float | None) -> str:
    """Three digits are as much as a prediction is good for."""
    if value is None:
        return NOTHING
    return f"{value:.0f}" if value >= 99.5 else f"{value:.3g}"


def usd_in_words(usd: float | None) -> str:
    """Three digits, and never an exponent."""
    if usd is None:
        return NOTHING
    return f"{usd:.{max(2, 2 - floor(log10(usd)))}f}" if usd else "0"


def _print_tables(explanation: Explanation) -> None:
    click.echo(asked_in_words(explanation.asked))
    print_table(HEADER, table_rows(explanation))
    click.echo()
    if explanation.instead is not None:
        _print_tables(explanation.instead)


def _hardware(one: Candidate) -> str:
    if one.hardware is None:
        return NOTHING
    return one.hardware if one.tp == 1 else f"{one.tp} x {one.hardware}"
