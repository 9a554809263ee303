"""The profiles that travel with the package: prices fitted to public measurements, read once."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import msgspec
from msgspec import Struct

from heterodyne.physics.hardware import Accelerator
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.precision import Precision
from heterodyne.physics.profile import Profile, ProfileKey, ProfileMatch, find_profile


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    profiles: tuple[Profile, ...]


@cache
def shipped_profiles() -> tuple[Profile, ...]:
    """Every profile in the package."""
    text = files("heterodyne.physics").joinpath("data", "profiles.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=_File).profiles


def profile_for(
    spec: ModelSpec,
    chip: Accelerator,
    *,
    engine: str,
    precision: Precision,
    tp: int,
    engine_version: str | None = None,
    measured: Sequence[Profile] = (),
) -> ProfileMatch:
    """The nearest profile, and what it rests on; `measured` are the operator's own."""
    wanted = ProfileKey(
        engine=engine,
        engine_version=engine_version,
        architecture=chip.architecture,
        chip=chip.name,
        precision=precision,
        tp=tp,
        has_experts=spec.experts is not None,
        model=spec.name,
    )
    return find_profile(shipped_profiles(), wanted, own=measured, vendor=chip.vendor)
