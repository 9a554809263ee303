"""Usage for people, and as CSV for their spreadsheets."""

import csv
import io
from collections.abc import Sequence

import click
import msgspec

from heterodyne.cli.output import print_json, print_table
from heterodyne.console.usage.pages import IdlePage, IdlePool, UsagePage
from heterodyne.domain.usage import UsageGroup, UsageRow

MICRO = 1_000_000
SUMS = ("requests", "errors", "prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens")
IDLE = ("day", "pool", "hardware", "up_hours", "busy_share", "paid_usd", "busy_usd", "idle_usd")
PER_MILLION = ("busy_usd_per_1M_tokens", "usd_per_1M_tokens")


def print_usage(page: UsagePage, by: Sequence[UsageGroup], style: str) -> None:
    """Sums by group."""
    rows = [_usage_row(row, by) for row in page.rows]
    _print((*by, *SUMS, "replica_s", "usd", "saved_usd"), rows, page, style)


def print_idle(page: IdlePage, style: str) -> None:
    """What pools cost, busy and idle."""
    _print((*IDLE, *PER_MILLION), [_idle_row(pool) for pool in page.rows], page, style)


def _print(header: Sequence[str], rows: Sequence[Sequence[str]], page: msgspec.Struct, style: str) -> None:
    if style == "json":
        print_json(page)
    elif style == "csv":
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows((header, *rows))
        click.echo(text.getvalue(), nl=False)
    else:
        print_table(header, rows)


def _usage_row(row: UsageRow, by: Sequence[UsageGroup]) -> list[str]:
    return [
        *(row.group[group] for group in by),
        *(str(getattr(row, name)) for name in SUMS),
        f"{row.replica_us / MICRO:.3f}",
        _usd(row.usd_micro),
        _usd(row.saved_usd_micro),
    ]


def _idle_row(pool: IdlePool) -> list[str]:
    hours, cost = pool.hours, pool.cost
    return [
        hours.day,
        hours.pool,
        hours.hardware,
        f"{hours.up_us / MICRO / 3600:.2f}",
        f"{cost.busy_share:.3f}",
        *map(_usd, (hours.paid_usd_micro, hours.busy_usd_micro, cost.idle_usd_micro)),
        *(
            "" if usd is None else f"{usd:.4f}"
            for usd in (cost.usd_per_million_tokens_busy, cost.usd_per_million_tokens)
        ),
    ]


def _usd(micro: int) -> str:
    """All six places: sums by hand agree with ours."""
    return f"{micro // MICRO}.{micro % MICRO:06d}"
