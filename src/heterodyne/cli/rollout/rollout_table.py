"""Rollouts in the terminal: where each stands, its steps, and what they rest on."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime

import click

from heterodyne.cli.output import print_json, print_table
from heterodyne.rollout.bounds import NOTHING_KNOWN
from heterodyne.rollout.judge import Verdict, judge
from heterodyne.rollout.machine import Rollout, share_of
from heterodyne.rollout.metric import METRICS, Kind


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


def print_rollout(rollout: Rollout, *, as_json: bool) -> None:
    """One, with its steps and its evidence."""
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
    verdict = judge(rollout.candidate_evidence, rollout.baseline_evidence, strictness=rollout.stage.strictness)
    if verdict.metrics:
        click.echo()
        print_evidence(verdict)


def print_evidence(verdict: Verdict) -> None:
    """What was seen of both sides, a metric in a line."""
    print_table(["METRIC", "CANDIDATE", "BASELINE", "WORSE BY", "MAY BE", "JUDGEMENT"], _evidence_rows(verdict))


def _evidence_rows(verdict: Verdict) -> list[list[str]]:
    return [
        [
            one.metric,
            str(one.candidate_count),
            str(one.baseline_count),
            f"{_harm(one.metric, one.harm.low)} to {_harm(one.metric, one.harm.high)}",
            _harm(one.metric, one.tolerance),
            str(one.judgement),
        ]
        for one in verdict.metrics
    ]


def _harm(metric: str, harm: float) -> str:
    """Differences in percentage points, ratios in percent."""
    if abs(harm) > NOTHING_KNOWN / 2:  # of which what is known of the other side may have been taken
        return "unknown"
    if METRICS[metric].kind is Kind.RATIO:
        return f"{math.expm1(harm):+.1%}"
    return f"{100 * harm:+.2f} pp"


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")
