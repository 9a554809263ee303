"""File, environment and flags, resolved once into one frozen Settings."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from heterodyne.config import files
from heterodyne.config.conversion import convert
from heterodyne.config.fields import section_fields
from heterodyne.config.layers import Given, Origin, winners
from heterodyne.config.settings import SECTIONS, Settings
from heterodyne.config.settle import settle
from heterodyne.domain.errors import SettingsInvalid


class Resolved(Struct, frozen=True, kw_only=True):
    """Settings, the file that was read, and where each value came from."""

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


def section_alone(name: str, path: Path | None, environment: Mapping[str, str], overrides: Mapping[str, str]) -> Struct:
    """One section of settings that may be refused elsewhere; of what is wrong in it, the default holds."""
    try:
        file = files.find(path, environment)
        document = files.read(file) if file else {}
    except SettingsInvalid:
        document = {}
    all_given = winners(document, environment, overrides)
    values = {}
    for field in section_fields(name):
        given = all_given.get(field.path)
        if given is not None and not (converted := convert(field, given.value, is_text=given.is_text)).misfits:
            values[field.path[-1]] = converted.value
    return SECTIONS[name](**values)


def resolve(path: Path | None, environment: Mapping[str, str], overrides: Mapping[str, str]) -> Resolved:
    """As `load`, and remembers where every value came from."""
    file = files.find(path, environment)
    document = files.read(file) if file else {}
    given = winners(document, environment, overrides)
    return Resolved(settings=settle(given, environment), file=file, given=given)
