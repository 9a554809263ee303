"""Verdicts, one line each, and below them what was wrong."""

from collections.abc import Sequence

import click

from heterodyne.cli.output import print_table
from heterodyne.domain.artifact import StoredArtifact
from heterodyne.domain.parity import ParityMeasures, ParityVerdict
from heterodyne.registry.parity.served import ServedVerdict

HEADERS = ("RUN BY", "POSITIONS", "TOP-1", "KL (NATS)", "PERPLEXITY", "FIRST SPLIT", "VERDICT")


def print_verdicts(judged: Sequence[StoredArtifact]) -> None:
    """Of artifacts."""
    found = [(one.artifact, verdict) for one in judged for verdict in one.verdicts]
    print_table(
        ("ARTIFACT", *HEADERS),
        [[f"{artifact.format} {artifact.precision}", *_row(verdict)] for artifact, verdict in found],
    )
    for artifact, verdict in found:
        _say_breaches(artifact.name, verdict)


def print_served(judged: Sequence[ServedVerdict]) -> None:
    """Of replicas as they serve."""
    print_table(
        ("POOL", "REPLICA", "JUDGED AS", *HEADERS),
        [[one.replica.pool, one.replica.url, one.replica.precision, *_row(one.verdict)] for one in judged],
    )
    for one in judged:
        _say_breaches(f"{one.replica.pool} at {one.replica.url}", one.verdict)


def _row(verdict: ParityVerdict) -> list[str]:
    cells = _cells(verdict.measures) if verdict.measures is not None else ["-"] * 5
    return [verdict.run_by, *cells, "passed" if verdict.has_passed else "failed"]


def _say_breaches(what: str, verdict: ParityVerdict) -> None:
    for breach in verdict.breaches:
        click.echo(f"{what}: {breach}", err=True)


def _cells(measures: ParityMeasures) -> list[str]:
    return [
        str(measures.positions),
        f"{measures.top1_agreement:.1%}",
        f"{measures.kl_nats:.5f}",
        f"{measures.perplexity_ratio:.3f}x",
        split_cell(measures),
    ]


def split_cell(measures: ParityMeasures) -> str:
    """After how many tokens two engines said something else, and by how little."""
    if not measures.continued_tokens:
        return "-"
    if measures.first_split is None:
        return f"none in {measures.continued_tokens}"
    gap = measures.first_split_gap_nats
    return f"{measures.first_split} tokens, {'no near-tie' if gap is None else f'gap {gap:.2f}'}"
