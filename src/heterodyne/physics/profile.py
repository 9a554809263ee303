"""Measured prices by chip, engine, version, precision and TP; the nearest known answers, and says how near it is."""

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from heterodyne.physics.precision import Precision
from heterodyne.physics.prices import DATASHEET, Prices
from heterodyne.physics.split import Split


class Basis(StrEnum):
    """What an answer rests on, the most trusted first."""

    OWN = "yours"  # measured by the operator on his own replica
    CHIP = "chip"  # measured on this chip under this engine
    FAMILY = "family"  # measured on relatives under this engine
    DATASHEET = "datasheet"  # not measured


# A request comes in the middle of a step, and its prompt shares another with the others' tokens.
OWN_STEPS = 1.5


class FirstToken(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What stands between a request and its first token besides its own prompt."""

    prompt: float = 1.2  # multiple of the prompt's own time
    queue: float = 0.1  # share of the other sequences' prompts that stand in front
    fixed_s: float = 0.02
    steps: float = 0.5  # decode steps of the others that pass in front of it, the one under way among them

    @property
    def steps_ahead(self) -> float:
        """Steps that pass before the scheduler takes it, beyond half of the one under way and that of its own."""
        return max(self.steps - OWN_STEPS, 0.0)


class ProfileKey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a profile was measured on. None: on several, and it speaks for all of them."""

    engine: str | None = None
    engine_version: str | None = None
    architecture: str | None = None
    chip: str | None = None
    precision: Precision | None = None
    tp: int | None = None
    has_experts: bool | None = None
    model: str | None = None


class Profile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The prices of one engine on one kind of silicon."""

    key: ProfileKey
    prices: Prices
    first_token: FirstToken = FirstToken()
    measured_points: int = 0
    source: str = ""
    split: Split | None = None  # what judged it: rows left out in this way; None: not judged
    vendors: tuple[str, ...] = ()  # makers of the chips it was measured or judged on


class ProfileMatch(Struct, frozen=True, kw_only=True):
    """A profile and what it rests on."""

    profile: Profile
    basis: Basis
    split: Split = Split.NOTHING  # how far it is from its rows; `spread_catalogue.spreads_of` has the range of that


PRIOR = Profile(key=ProfileKey(), prices=DATASHEET, source="datasheet rates and published priors", vendors=("nvidia",))


def find_profile(
    profiles: Iterable[Profile], wanted: ProfileKey, *, own: Iterable[Profile] = (), vendor: str | None = None
) -> ProfileMatch:
    """The profile that speaks most closely for what is wanted; the datasheet prior when none does.

    `own` are the operator's: among those as near in chip, kind of model and precision they win. `vendor` makes the
    chip: what was measured on another maker's is far from it.
    """
    candidates = [*((profile, True) for profile in own), *((profile, False) for profile in profiles)]
    speaking = [(profile, is_own) for profile, is_own in candidates if _speaks_for(profile.key, wanted)]
    if not speaking:
        return ProfileMatch(profile=PRIOR, basis=Basis.DATASHEET, split=_unless_strange(PRIOR, vendor, Split.NOTHING))
    best, is_own = max(speaking, key=lambda one: _nearness(one[0].key, wanted, is_own=one[1]))
    if is_own:
        return ProfileMatch(profile=best, basis=Basis.OWN, split=Split.CALIBRATED)
    if best.key.chip is None:
        return ProfileMatch(profile=best, basis=Basis.FAMILY, split=_unless_strange(best, vendor, Split.CHIP))
    return ProfileMatch(profile=best, basis=Basis.CHIP, split=_split_on_chip(best, wanted))


def _unless_strange(profile: Profile, vendor: str | None, split: Split) -> Split:
    """Chips of makers that none of the rows is of are further than any of the others."""
    return Split.VENDOR if vendor is not None and profile.vendors and vendor not in profile.vendors else split


def _split_on_chip(profile: Profile, wanted: ProfileKey) -> Split:
    # A published summary of a chip's rows is no nearer than rows of its relatives.
    if profile.split is Split.CHIP:
        return Split.CHIP
    if profile.key.model is None:
        return Split.MODEL
    versions = {profile.key.engine_version, wanted.engine_version} - {None}
    return Split.VERSION if len(versions) > 1 else Split.LAYOUT


def _speaks_for(key: ProfileKey, wanted: ProfileKey) -> bool:
    # Another version of the same engine is still that engine: it only counts as less near.
    return key.engine == wanted.engine and all(
        getattr(key, name) in (None, getattr(wanted, name))
        for name in ("architecture", "chip", "precision", "tp", "has_experts", "model")
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
        key.model is not None,
        version,
        key.tp is not None,
        key.architecture is not None,
    )
