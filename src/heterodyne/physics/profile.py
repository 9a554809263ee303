"""Measured prices by chip, engine, version, precision and TP; the nearest known answers, and says how near it is."""

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from heterodyne.physics.precision import Precision
from heterodyne.physics.prices import DATASHEET, Prices


class Basis(StrEnum):
    """What an answer rests on, the most trusted first."""

    CHIP = "chip"  # measured on this chip under this engine
    FAMILY = "family"  # measured on relatives under this engine
    DATASHEET = "datasheet"  # nobody measured it


class FirstToken(Struct, frozen=True, kw_only=True):
    """What stands between a request and its first token besides its own prompt."""

    prompt: float = 1.2  # multiple of the prompt's own time
    queue: float = 0.1  # share of the other sequences' prompts that stand in front
    fixed_s: float = 0.02


class ProfileKey(Struct, frozen=True, kw_only=True):
    """What a profile was measured on. None: on several, and it speaks for all of them."""

    engine: str | None = None
    engine_version: str | None = None
    architecture: str | None = None
    chip: str | None = None
    precision: Precision | None = None
    tp: int | None = None
    has_experts: bool | None = None


class Profile(Struct, frozen=True, kw_only=True):
    """The prices of one engine on one kind of silicon."""

    key: ProfileKey
    prices: Prices
    first_token: FirstToken = FirstToken()
    measured_points: int = 0
    source: str = ""


class Found(Struct, frozen=True, kw_only=True):
    """A profile and what it rests on."""

    profile: Profile
    basis: Basis


PRIOR = Profile(key=ProfileKey(), prices=DATASHEET, source="datasheet rates and published priors")


def find_profile(profiles: Iterable[Profile], wanted: ProfileKey) -> Found:
    """The profile that speaks most closely for what is wanted; the datasheet prior when none does."""
    speaking = [profile for profile in profiles if _speaks_for(profile.key, wanted)]
    if not speaking:
        return Found(profile=PRIOR, basis=Basis.DATASHEET)
    best = max(speaking, key=lambda profile: _nearness(profile.key, wanted))
    return Found(profile=best, basis=Basis.CHIP if best.key.chip is not None else Basis.FAMILY)


def _speaks_for(key: ProfileKey, wanted: ProfileKey) -> bool:
    # Another version of the same engine is still that engine: it only counts as less near.
    return key.engine == wanted.engine and all(
        getattr(key, name) in (None, getattr(wanted, name))
        for name in ("architecture", "chip", "precision", "tp", "has_experts")
    )


def _nearness(key: ProfileKey, wanted: ProfileKey) -> tuple[int, ...]:
    """Larger is nearer. A profile over all versions is nearer than one of another version."""
    version = 2 if key.engine_version == wanted.engine_version else int(key.engine_version is None)
    return (
        key.chip is not None,
        key.has_experts is not None,
        key.precision is not None,
        version,
        key.tp is not None,
        key.architecture is not None,
    )
