"""Pure: whether the claims of a token hold here and now, and whom they name."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, Final

from heterodyne.domain.errors import TokenRefused
from heterodyne.identity.compact_token import short

WORDS_MAX: Final = 256  # of one claim; groups of a person may be many


def ends_at(claims: Mapping[str, Any], audiences: Sequence[str], now_wall_s: float, leeway_s: float) -> float:
    """When it is over, the leeway included; raises where it is for others, over, or not begun."""
    named = words_of(claims.get("aud"))
    if not set(named) & set(audiences):
        told = f" ({', '.join(map(short, named[:3]))})" if named else ""
        raise TokenRefused(f"The token is for somebody else: its audience{told} is not us.", reason="wrong_audience")
    over = _moment(claims, "exp")
    if over is None:
        raise TokenRefused("The token does not say when it ends (exp).", reason="malformed")
    if now_wall_s >= over + leeway_s:
        raise TokenRefused(f"The token has expired {now_wall_s - over:.0f} s ago.", reason="expired")
    begins = _moment(claims, "nbf")
    if begins is not None and now_wall_s < begins - leeway_s:
        raise TokenRefused(f"The token holds in {begins - now_wall_s:.0f} s, and not yet.", reason="not_yet_valid")
    issued = _moment(claims, "iat")
    if issued is not None and now_wall_s < issued - leeway_s:
        raise TokenRefused(
            "The token was issued in the future: the issuer's clock or ours is wrong.", reason="not_yet_valid"
        )
    return over + leeway_s


def claim_at(claims: Mapping[str, Any], path: Sequence[str]) -> tuple[str, ...]:
    """The words there; none where there is nothing, or something else."""
    found: Any = claims
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return words_of(found)


def words_of(value: object) -> tuple[str, ...]:
    """Of a word, or a list of them."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list):
        return tuple(one for one in value[:WORDS_MAX] if isinstance(one, str))
    return ()


def _moment(claims: Mapping[str, Any], name: str) -> float | None:
    found = claims.get(name)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float) or not isfinite(found):
        raise TokenRefused(f"The token's `{name}` is no time.", reason="malformed")
    return float(found)
