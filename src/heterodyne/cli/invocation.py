"""The global flags, and the settings that follow from them."""

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import click

if TYPE_CHECKING:
    from heterodyne.config.load import Resolved
    from heterodyne.config.settings import Settings


class Invocation(NamedTuple):
    """One run of the command, before its subcommand. No struct: `--help` needs no msgspec and answers sooner."""

    config_path: Path | None = None
    overrides: Mapping[str, str] = MappingProxyType({})

    def settings(self, flags: Mapping[str, str | None] | None = None) -> "Settings":
        """The settings of this run; a subcommand's own flags that were given go over `--set`."""
        return self.resolve(flags).settings

    def resolve(self, flags: Mapping[str, str | None] | None = None) -> "Resolved":
        """As `settings`, with where each value came from."""
        from heterodyne.config.load import resolve

        given = {path: value for path, value in (flags or {}).items() if value is not None}
        return resolve(self.config_path, os.environ, {**self.overrides, **given})


def parse_overrides(pairs: tuple[str, ...]) -> dict[str, str]:
    """`KEY=VALUE` words as a mapping; the last of two for one key wins."""
    overrides = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise click.BadParameter(f'"{pair}" is not KEY=VALUE, for example gateway.port=9000', param_hint="--set")
        overrides[key.strip()] = value
    return overrides


pass_invocation = click.make_pass_decorator(Invocation)
