"""Rollouts in the terminal: where each stands, its steps, and what they rest on."""

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from heterodyne.cli.output import print_json, print_table
from heterodyne.console.rollouts.standing import EvidenceRow, RolloutStanding, standing_of
from heterodyne.rollout.machine import Rollout, share_of
from heterodyne.rollout.metric import Kind


def print_rollouts(rollouts: Sequence[Rollout]) -> None:
    """One line each."""
    print_table(
        ["MODEL", "CANDIDATE", "STATUS", "STAGE", "SHARE", "REQUESTS", "BEGUN (UTC)"],
        [
            [
                one.model,
                ", ".join(one.candidate),
                str(one.status),
                one.stage.name,
                f"{share_of(one):.0%}",
                str(one.candidate_evidence.requests),
                _moment(one.began_at),
            ]
            for one in rollouts
        ],
    )


def print_rollout(rollout: Rollout, *, as_json: bool, standing: RolloutStanding | None = None) -> None:
    """One, with its steps and its evidence; without a standing, as it follows from the rollout alone."""
    if as_json:
        print_json(rollout)
        return
    baseline, candidate = ", ".join(rollout.baseline), ", ".join(rollout.candidate)
    click.echo(
        f"{rollout.model}: {baseline} -> {candidate}, {rollout.status}, {share_of(rollout):.0%} of conversations"
    )
    print_table(
        ["AT (UTC)", "STAGE", "WHAT", "WHY"],
        [[_moment(step.at), step.stage, step.what, step.why or step.who or "-"] for step in rollout.steps],
    )
    shown = standing_of(rollout) if standing is None else standing
    if shown.control_replicas:
        candidates, controls = ", ".join(shown.candidate_replicas), ", ".join(shown.control_replicas)
        click.echo(f"\ntimes are compared at the same load: {candidates} with {controls}")
    if shown.evidence:
        click.echo()
        print_evidence(shown.evidence)


def print_evidence(rows: Sequence[EvidenceRow]) -> None:
    """What was seen of both sides, a metric in a line."""
    print_table(["METRIC", "CANDIDATE", "BASELINE", "WORSE BY", "MAY BE", "JUDGEMENT"], [*map(_cells, rows)])


def _cells(row: EvidenceRow) -> list[str]:
    return [
        row.metric,
        str(row.candidate_count),
        str(row.baseline_count),
        f"{_harm(row.kind, row.low)} to {_harm(row.kind, row.high)}",
        _harm(row.kind, row.tolerance),
        str(row.judgement),
    ]


def _harm(kind: Kind, share: float | None) -> str:
    """Differences in percentage points, ratios in percent."""
    if share is None:
        return "unknown"
    return f"{share:+.1%}" if kind is Kind.RATIO else f"{100 * share:+.2f} pp"


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")
