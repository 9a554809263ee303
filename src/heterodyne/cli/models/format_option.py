"""The format that a command names."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from heterodyne.domain.artifact import WeightFormat


def read_format(text: str) -> "WeightFormat":
    """Raises with those there are."""
    from heterodyne.domain.artifact import WeightFormat

    if text not in list(WeightFormat):
        raise click.BadParameter(f'"{text}" is none of {", ".join(WeightFormat)}', param_hint="--format")
    return WeightFormat(text)
