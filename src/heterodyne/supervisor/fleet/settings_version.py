"""Pure: one word for what a reload would change, by which gateways tell whether they mean the same.

What waits for a restart has no part in it: addresses, certificates and stores are each machine's own, and with the
stores the passwords that an address may hold stay here.
"""

import hashlib
from typing import Final

import msgspec
from msgspec import Struct, structs

from heterodyne.config.fields import dotted
from heterodyne.config.settings import NAMED, Settings
from heterodyne.supervisor.fleet.settings_reload import RESTART_FIELDS, RESTART_SECTIONS

WORD_CHARS: Final = 16  # 64 bits: versions are compared by those who wrote them, not by an attacker
PATHS_MAX: Final = 8  # named of those that differ

_encode = msgspec.json.Encoder(order="sorted").encode


class SettingsVersion(Struct, frozen=True, kw_only=True):
    """What two gateways compare."""

    word: str  # of the whole
    parts: dict[str, str]  # the same of each section and each named table


def version_of(settings: Settings) -> SettingsVersion:
    """The same for all gateways that a reload would make work alike."""
    parts: dict[str, str] = {}
    for section in settings.__struct_fields__:
        value = getattr(settings, section)
        if section in NAMED:
            parts |= {dotted(section, name): _word(_encode(one)) for name, one in value.items()}
        elif section not in RESTART_SECTIONS:
            lasting = RESTART_FIELDS.get(section, ())
            parts[section] = _word(_encode({k: v for k, v in structs.asdict(value).items() if k not in lasting}))
    return SettingsVersion(word=_word(_encode(parts)), parts=parts)


def differing(one: SettingsVersion, other: SettingsVersion) -> tuple[str, ...]:
    """The paths of sections and tables that are not the same in both, or are in one of them only."""
    return tuple(sorted(path for path in {*one.parts, *other.parts} if one.parts.get(path) != other.parts.get(path)))


def in_words(paths: tuple[str, ...]) -> str:
    """Those that differ, for people."""
    more = len(paths) - PATHS_MAX
    return ", ".join(f"`{path}`" for path in paths[:PATHS_MAX]) + (f" and {more} more" if more > 0 else "")


def _word(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:WORD_CHARS]
