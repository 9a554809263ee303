"""Measured prices by chip, engine, version, precision and TP; the nearest known answers, and says how near it is."""

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from heterodyne.physics.precision import Precision
from heterodyne.physics.prices import DATASHEET, Prices


class Basis(StrEnum):
    """What an answer rests on, the most trusted first."""

    OWN = "yours"  # measured by the operator on his own replica
    CHIP = "chip"  # measured on this chip under this engine
    FAMILY = "family"  # measured on relatives under this engine
    DATASHEET = "datasheet"  # not measured


class FirstToken(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What stands between a request and its first token besides its own prompt."""

    prompt: float = 1.2  # multiple of the prompt's own time
    queue: float = 0.1  # share of the other sequences' prompts that stand in front
    fixed_s: float = 0.02


class ProfileKey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a profile was measured on. None: on several, and it speaks for all of them."""

    engine: str | None = None
    engine_version: str | None = None
    architecture: str | None = None
    chip: str | None = None
    precision: Precision | None = None
    tp: int | None = None
    has_experts: bool | None = None


class Profile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The prices of one engine on one kind of silicon."""

    key: ProfileKey
    prices: Prices
    first_token: FirstToken = FirstToken()
    measured_points: int = 0
    source: str = ""


class ProfileMatch(Struct, frozen=True, kw_only=True):
    """A profile and what it rests on."""

    profile: Profile
    basis: Basis


PRIOR = Profile(key=ProfileKey(), prices=DATASHEET, source="datasheet rates and published priors")


def find_profile(profiles: Iterable[Profile], wanted: ProfileKey, *, own: Iterable[Profile] = ()) -> ProfileMatch:
    """The profile that speaks most closely for what is wanted; the datasheet prior when none does.

    `own` are the operator's: among those as near in chip, kind of model and precision they win.
    """
    candidates = [*((profile, True) for profile in own), *((profile, False) for profile in profiles)]
    speaking = [(profile, is_own) for profile, is_own in candidates if _speaks_for(profile.key, wanted)]
    if not speaking:
        return ProfileMatch(profile=PRIOR, basis=Basis.DATASHEET)
    best, is_own = max(speaking, key=lambda one: _nearness(one[0].key, wanted, is_own=one[1]))
    if is_own:
        return ProfileMatch(profile=best, basis=Basis.OWN)
    return ProfileMatch(profile=best, basis=Basis.CHIP if best.key.chip is not None else Basis.FAMILY)


def _speaks_for(key: ProfileKey, wanted: ProfileKey) -> bool:
    # Another version of the same engine is still that engine: it only counts as less near.
    return key.engine == wanted.engine and all(
        getattr(key, name) in (None, getattr(wanted, name))
        for name in ("architecture", "chip", "precision", "tp", "has_experts")
    )


def _nearness(key: ProfileKey, wanted: ProfileKey, *, is_own: bool) -> tuple[int, ...]:
    """Larger is nearer. A profile over all versions is nearer than one of another version.

    Whose replica it was weighs more than the version: plans seldom say one, and the operator runs what he measured.
    """
    version = 2 if key.engine_version == wanted.engine_version else int(key.engine_version is None)
    return (
        key.chip is not None,
        key.has_experts is not None,
        key.precision is not None,
        is_own,
        version,
        key.tp is not None,
        key.architecture is not None,
    )
