"""Where `heterodyne audit` finds the log and its key: in the settings, unless options name another place."""

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from heterodyne.cli.invocation import Invocation, pass_invocation

if TYPE_CHECKING:
    from heterodyne.audit.key import AuditKey

FILE = click.Path(path_type=Path, dir_okay=False)


class AuditPlace(Struct, frozen=True, kw_only=True):
    """A log and the file of its key."""

    folder: Path
    key_file: Path

    def key(self) -> "AuditKey":
        """The key, which has to be there."""
        from heterodyne.audit.key import open_key

        return open_key(self.key_file, may_create=False)


def at_place(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command its `place`."""

    @click.option(
        "--dir",
        "folder",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        help="Folder of the log; else that of the settings.",
    )
    @click.option(
        "--key-file",
        type=FILE,
        metavar="FILE",
        help="File of the audit key; else `audit.key` in the folder that was named, or that of the settings.",
    )
    @pass_invocation
    @wraps(command)
    def placed(invocation: Invocation, /, *, folder: Path | None, key_file: Path | None, **words: Any) -> None:
        command(place=find(invocation, folder, key_file), **words)

    return placed


def find(invocation: Invocation, folder: Path | None, key_file: Path | None) -> AuditPlace:
    """A folder that is named needs no settings: the log may have been brought here from elsewhere."""
    from heterodyne.audit.settings import folder_of, key_file_of

    if folder is not None:
        return AuditPlace(folder=folder, key_file=key_file or folder / "audit.key")
    from heterodyne.stores.open_store import state_folder

    settings = invocation.settings().audit
    folder = folder_of(settings, state_folder(os.environ))
    return AuditPlace(folder=folder, key_file=key_file or key_file_of(settings, folder))
