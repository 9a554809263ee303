"""The spreads that travel with the package, and which of them a prediction has."""

from functools import cache
from importlib.resources import files

import msgspec
from msgspec import Struct

from heterodyne.physics.split import Split
from heterodyne.physics.spread import Spreads


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    spreads: tuple[Spreads, ...]


def spreads_of(split: Split, *, has_experts: bool) -> Spreads:
    """What is known of predictions this far from their rows, for dense models or mixtures."""
    return _shipped()[split, has_experts]


@cache
def _shipped() -> dict[tuple[Split, bool], Spreads]:
    text = files("heterodyne.physics").joinpath("data", "spreads.toml").read_text(encoding="utf-8")
    found = msgspec.toml.decode(text, type=_File).spreads
    return {(one.split, one.has_experts): one for one in found}
