"""How people name a version: `smollm2-135m@v1`, or the model alone, which means its latest.

As the weights of a pool, `registry:smollm2-135m@v1#q8_0`; without a precision, the latest artifact that fits; with the
beginning of a digest in its place, that one.
"""

import re

from msgspec import Struct

from heterodyne.domain.errors import SettingsInvalid

MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


SCHEME = "registry"
PREFIX = SCHEME + ":"


class VersionReference(Struct, frozen=True):
    """A model, and which version of it; None: the latest."""

    model: str
    version: str | None = None

    def __str__(self) -> str:
        return self.model if self.version is None else f"{self.model}@{self.version}"


def read_reference(text: str) -> VersionReference:
    """Raises SettingsInvalid, with what is expected."""
    model, at, version = text.partition("@")
    if not MODEL.fullmatch(model) or (at and not VERSION.fullmatch(version)):
        raise SettingsInvalid(f'"{text}" is not a model of the registry: write NAME or NAME@VERSION')
    return VersionReference(model, version if at else None)


def names_version(uri: str) -> bool:
    """Whether the weights of a pool are a version of the registry."""
    return uri.startswith(PREFIX)


def read_uri(uri: str) -> tuple[VersionReference, str | None]:
    """The version that the weights of a pool name, and the precision, where they name one."""
    version, _, precision = uri.removeprefix(PREFIX).partition("#")
    return read_reference(version), precision or None
