"""A batch beside a trace, as `heterodyne simulate` is told of it and tells it."""

import click

from heterodyne.cli.output import print_table
from heterodyne.domain.counted import counted
from heterodyne.simulator.batch import SimulatedBatch
from heterodyne.simulator.beside import BatchReport


def batch_of(lines: int, *, group: int, tokens: tuple[int, int, int]) -> SimulatedBatch:
    """What the options say; `tokens` are a line's shared and own ones of its prompt, and those of its answer."""
    shared, own, output = tokens
    return SimulatedBatch(
        lines=lines, groups=-(-lines // group), shared_tokens=shared, own_tokens=own, output_tokens=output
    )


def print_batch(found: BatchReport) -> None:
    """How both fared."""
    left = found.left_over_lines_per_s
    share = f", {found.lines_per_s / left:.2f} of it" if left else ""
    click.echo(
        f"within: {found.attainment_without:.2%} without the batch, {found.attainment_with:.2%} beside it\n"
        f"left over: {left:.1f} lines/s, {1 - found.load:.2f} of {found.alone_lines_per_s:.1f} alone\n"
        f"answered: {counted(found.lines, 'line')}, {found.lines_per_s:.1f} lines/s{share}; "
        f"{found.prefix_hit_share:.0%} of their prompts was in memory\n"
    )
    print_table(
        ("pool", "lines/s", "in flight"),
        [(one.pool, f"{one.lines_per_s:.1f}", f"{one.in_flight_mean:.1f}") for one in found.pools],
    )
