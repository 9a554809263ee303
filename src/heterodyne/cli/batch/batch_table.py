"""Batches in the terminal: a list of them, and all there is to say of one."""

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from heterodyne.cli.batch.batch_client import ShownBatch
from heterodyne.cli.output import print_json, print_table

PROBLEMS_SHOWN = 10


def print_batches(batches: Sequence[ShownBatch]) -> None:
    """One line each."""
    print_table(
        ["ID", "STATUS", "DONE", "FAILED", "CREATED (UTC)"],
        [
            [
                one.id,
                one.status + (" late" if one.outlook.is_late else ""),
                f"{one.done}/{one.counts.total}",
                str(one.counts.failed),
                moment(one.created_at),
            ]
            for one in batches
        ],
    )


def print_batch(batch: ShownBatch, *, as_json: bool) -> None:
    """One, a line for each thing that is known of it."""
    if as_json:
        print_json(batch)
        return
    for name, value in _facts(batch):
        click.echo(f"{name:<10} {value}")
    problems = batch.errors.data if batch.errors else ()
    for problem in problems[:PROBLEMS_SHOWN]:
        click.echo(f"{'problem':<10} {problem.message}")
    if len(problems) > PROBLEMS_SHOWN:
        click.echo(f"{'':<10} and {len(problems) - PROBLEMS_SHOWN} more, with --json")


def _facts(batch: ShownBatch) -> list[tuple[str, str]]:
    counts, outlook = batch.counts, batch.outlook
    facts = [
        ("id", batch.id),
        ("status", batch.status),
        ("lines", f"{counts.total}: {counts.completed} answered, {counts.failed} failed"),
        ("endpoint", batch.endpoint),
        ("window", f"{batch.completion_window}, until {moment(batch.expires_at)} UTC"),
        ("created", f"{moment(batch.created_at)} UTC"),
    ]
    if batch.ended_at is not None:
        facts.append(("ended", f"{moment(batch.ended_at)} UTC"))
    if outlook.expected_at is not None:
        late = ", after its window: what has no answer by then expires" if outlook.is_late else ""
        facts.append(("expected", f"{moment(outlook.expected_at)} UTC{late}"))
    if batch.usage is not None:
        read, written = batch.usage.get("input_tokens", 0), batch.usage.get("output_tokens", 0)
        facts.append(("tokens", f"{read} read, {written} written"))
    for name, id in (("input", batch.input_file_id), ("output", batch.output_file_id), ("errors", batch.error_file_id)):
        if id is not None:
            facts.append((name, id))
    return facts + [("metadata", f"{key}={value}") for key, value in (batch.metadata or {}).items()]


def moment(at: int | None) -> str:
    """A time for people, in UTC."""
    return "-" if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")
