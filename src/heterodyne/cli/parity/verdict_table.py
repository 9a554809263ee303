"""Verdicts, one line each, and below them what was wrong."""

from collections.abc import Sequence

import click

from heterodyne.cli.output import print_table
from heterodyne.domain.artifact import StoredArtifact
from heterodyne.domain.parity import ParityMeasures

HEADERS = ("ARTIFACT", "RUN BY", "POSITIONS", "TOP-1", "KL (NATS)", "PERPLEXITY", "FIRST SPLIT", "VERDICT")


def print_verdicts(judged: Sequence[StoredArtifact]) -> None:
    rows = []
    for one in judged:
        for verdict in one.verdicts:
            cells = _cells(verdict.measures) if verdict.measures is not None else ["-"] * 5
            said = "passed" if verdict.has_passed else "failed"
            rows.append([f"{one.artifact.format} {one.artifact.precision}", verdict.run_by, *cells, said])
    print_table(HEADERS, rows)
    for one in judged:
        for verdict in one.verdicts:
            for breach in verdict.breaches:
                click.echo(f"{one.artifact.name}: {breach}", err=True)


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
