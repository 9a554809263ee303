"""How a batch beside the trace is told to `heterodyne simulate`."""

from collections.abc import Callable
from typing import Any

import click


def batch_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How many lines it has, and of what."""
    options = (
        click.option(
            "--batch-lines",
            type=click.IntRange(min=1),
            metavar="N",
            help="A batch of N lines beside the trace: how fast it is, and what it does to the trace. One policy only.",
        ),
        click.option(
            "--batch-group",
            type=click.IntRange(min=1),
            default=100,
            show_default=True,
            metavar="N",
            help="Lines of the batch that begin alike.",
        ),
        click.option(
            "--batch-tokens",
            nargs=3,
            type=click.IntRange(min=1),
            default=(512, 64, 64),
            show_default=True,
            metavar="SHARED OWN OUT",
            help="Tokens of a line: of its prompt, shared within its group and its own, and of its answer.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command
