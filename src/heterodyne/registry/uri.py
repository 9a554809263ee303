"""A weight URI split into its scheme and what the source of that scheme understands."""

from collections.abc import Collection
from difflib import get_close_matches

from msgspec import Struct

from heterodyne.domain.errors import SettingsInvalid


class WeightUri(Struct, frozen=True, kw_only=True):
    """`pypi:NAME==VERSION!PATH` as ("pypi", "NAME==VERSION!PATH")."""

    scheme: str
    reference: str


def parse(text: str, schemes: Collection[str]) -> WeightUri:
    """Split `text`; an unknown scheme is answered with the nearest of `schemes`."""
    scheme, colon, reference = text.partition(":")
    if not colon:
        raise SettingsInvalid(
            f'weights: "{text}" has no scheme; write one of {_listed(schemes)} before it, for example "file:{text}"'
        )
    if scheme not in schemes:
        near = get_close_matches(scheme, schemes, n=1, cutoff=0.5)
        hint = f'did you mean "{near[0]}:"?' if near else f"use one of {_listed(schemes)}"
        raise SettingsInvalid(f'weights: no source for "{scheme}:" in "{text}"; {hint}')
    if not reference:
        raise SettingsInvalid(f'weights: nothing follows "{scheme}:"')
    return WeightUri(scheme=scheme, reference=reference)


def _listed(schemes: Collection[str]) -> str:
    return ", ".join(f"{scheme}:" for scheme in sorted(schemes))
