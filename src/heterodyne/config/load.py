"""File, environment and flags, resolved once into one frozen Settings."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from heterodyne.config import files
from heterodyne.config.layers import Given, Origin, winners
from heterodyne.config.settings import Settings
from heterodyne.config.settle import settle


class Resolved(Struct, frozen=True, kw_only=True):
    """Settings with their story: the file that was read and who gave each value."""

    settings: Settings
    file: Path | None  # None: no file was found, which is fine
    given: dict[tuple[str, ...], Given]

    def origin(self, path: tuple[str, ...]) -> Origin:
        """The layer whose value won at a path."""
        given = self.given.get(path)
        return given.origin if given else Origin.DEFAULT


def load(path: Path | None, environment: Mapping[str, str], overrides: Mapping[str, str]) -> Settings:
    """Flag over environment over file over default; raises with every problem when there is one."""
    return resolve(path, environment, overrides).settings


def resolve(path: Path | None, environment: Mapping[str, str], overrides: Mapping[str, str]) -> Resolved:
    """As `load`, and remembers where every value came from."""
    file = files.find(path, environment)
    document = files.read(file) if file else {}
    given = winners(document, environment, overrides)
    return Resolved(settings=settle(given, environment), file=file, given=given)
