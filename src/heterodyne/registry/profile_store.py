"""Files of measured profiles: read whole, written one profile at a time so that a reader sees the old or the new."""

import json
import math
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.nearest import with_near_field
from heterodyne.physics.prices import Prices
from heterodyne.physics.profile import FirstToken, Profile, ProfileKey
from heterodyne.registry.files import exclusive

HEADER = "# Profiles measured by `heterodyne calibrate`; plans take them before those that travel with the package.\n"


class ProfileFile(Struct, frozen=True, forbid_unknown_fields=True):
    """What a file holds."""

    profiles: tuple[Profile, ...] = ()


def default_profiles_file(environment: Mapping[str, str] = os.environ) -> Path:
    """`profiles.toml` in the user's data folder."""
    if environment.get("XDG_DATA_HOME"):
        base = Path(environment["XDG_DATA_HOME"])
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path.home() / ".local" / "share"
    return base / "heterodyne" / "profiles.toml"


def own_profiles_files(named: tuple[str, ...] | None, environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Where the operator's own profiles are: the files the settings name, else the default one."""
    return [default_profiles_file(environment)] if named is None else [Path(name).expanduser() for name in named]


def own_profiles(named: tuple[str, ...] | None, environment: Mapping[str, str] = os.environ) -> tuple[Profile, ...]:
    """What the operator measured; a file the settings name must be there, the default one need not."""
    files = own_profiles_files(named, environment)
    return tuple(profile for path in files for profile in read_profiles(path, is_required=named is not None))


def read_profiles(path: Path, *, is_required: bool = True) -> tuple[Profile, ...]:
    """Every profile of a file; raises `InvalidSpec` with the file and the reason."""
    try:
        profiles = msgspec.toml.decode(path.read_bytes(), type=ProfileFile).profiles
    except FileNotFoundError as error:
        if not is_required:
            return ()
        raise InvalidSpec(f"{path}: no such file of profiles; `heterodyne calibrate` writes one") from error
    except OSError as error:
        raise InvalidSpec(f"{path}: cannot be read: {error.strerror}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        message = with_near_field(str(error), ProfileFile, Profile, ProfileKey, FirstToken, Prices)
        raise InvalidSpec(f"{path}: not a file of profiles: {message}") from error
    for index, profile in enumerate(profiles):
        _check(profile, f"{path}: profiles[{index}]")
    return profiles


def store_profile(path: Path, profile: Profile) -> Profile | None:
    """Put a profile into a file, in the place of the one with the same key, which is returned."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with exclusive(path.with_name(f".{path.name}.lock"), lambda: None):
            kept = read_profiles(path, is_required=False)
            _replace(path, _text((*(one for one in kept if one.key != profile.key), profile)))
    except OSError as error:
        raise InvalidSpec(f"{path}: cannot be written: {error.strerror}") from error
    return next((one for one in kept if one.key == profile.key), None)


def _check(profile: Profile, path: str) -> None:
    numbers = {
        **{f"prices.{name}": value for name, value in msgspec.structs.asdict(profile.prices).items()},
        **{f"first_token.{name}": value for name, value in msgspec.structs.asdict(profile.first_token).items()},
    }
    for name, value in numbers.items():
        if not (math.isfinite(value) and value >= 0):
            raise InvalidSpec(f"{path}.{name}: {value:g} is no price; give a number from 0 up")


def _replace(path: Path, text: str) -> None:
    """A whole new file takes the name in one step."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        os.fchmod(descriptor, 0o644)  # nothing in it is secret
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _text(profiles: Iterable[Profile]) -> str:
    return "\n".join([HEADER, *map(_profile_text, profiles)])


def _profile_text(profile: Profile) -> str:
    lines = ["[[profiles]]"]
    for name, value in msgspec.to_builtins(profile).items():
        if value is not None:
            text = _inline(value) if isinstance(value, dict) else json.dumps(value, ensure_ascii=False)
            lines.append(f"{name} = {text}")
    return "\n".join(lines) + "\n"


def _inline(fields: Mapping[str, object]) -> str:
    """TOML has no word for an absence, so what is None is left out."""
    pairs = ", ".join(
        f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items() if value is not None
    )
    return f"{{ {pairs} }}"
