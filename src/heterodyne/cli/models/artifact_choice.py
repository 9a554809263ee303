"""Which artifacts a command means: all of a version, or those of a format and a precision."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def artifact_options(command: Command) -> Command:
    """`--format` and `--precision`."""
    for option in (
        click.option("--precision", help="Only artifacts of this precision."),
        click.option("--format", "format_", help="Only artifacts of this format."),
    ):
        command = option(command)
    return command


def is_chosen(artifact: Any, format_: str | None, precision: str | None) -> bool:
    """Whether the options mean it."""
    return format_ in (None, str(artifact.format)) and precision in (None, artifact.precision)
