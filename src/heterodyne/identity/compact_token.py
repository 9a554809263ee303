"""Pure: a token (JWT) taken apart. Nothing in it is to be believed before its signature is."""

from base64 import urlsafe_b64decode
from typing import Any, Final

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import TokenRefused

TOKEN_BYTES_MAX: Final = 16384
HEADER_BYTES_MAX: Final = 4096  # as it is written
SHOWN_CHARS_MAX: Final = 200  # of what somebody else has written


class CompactToken(Struct, frozen=True, kw_only=True):
    """As it was sent, and what its header and its claims say."""

    sent: bytes
    algorithm: str
    key_id: str | None  # None: it names none
    issuer: str
    claims: dict[str, Any]

    def __repr__(self) -> str:
        return f"CompactToken(issuer={self.issuer!r}, key_id={self.key_id!r})"


def read_token(sent: bytes) -> CompactToken:
    """Raises TokenRefused where it is none."""
    if len(sent) > TOKEN_BYTES_MAX:
        raise TokenRefused(f"The token has {len(sent)} bytes; at most {TOKEN_BYTES_MAX} are read.", reason="too_large")
    written, _, rest = sent.partition(b".")
    payload, _, signature = rest.partition(b".")
    if len(written) > HEADER_BYTES_MAX:
        raise TokenRefused(f"The token's header is longer than {HEADER_BYTES_MAX} bytes.", reason="too_large")
    header, claims = _part(written, "header"), _part(payload, "claims")
    algorithm, key_id, issuer = header.get("alg"), header.get("kid"), claims.get("iss")
    if not signature or not isinstance(algorithm, str) or algorithm.lower() == "none":
        raise TokenRefused("The token is not signed.", reason="unsigned")
    if "crit" in header or "b64" in header:
        raise TokenRefused("The token asks for extensions of JWS that are not spoken here (crit).", reason="malformed")
    if key_id is not None and not isinstance(key_id, str):
        raise TokenRefused("The token's `kid` is no text.", reason="malformed")
    if not isinstance(issuer, str):
        raise TokenRefused("The token names no issuer (iss).", reason="unknown_issuer")
    return CompactToken(sent=sent, algorithm=algorithm, key_id=key_id, issuer=issuer, claims=claims)


def short(text: str) -> str:
    """As much of it as helps to see it."""
    return text if len(text) <= SHOWN_CHARS_MAX else text[:SHOWN_CHARS_MAX] + "…"


def _part(written: bytes, name: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(urlsafe_b64decode(written + b"=" * (-len(written) % 4)), type=dict[str, Any])
    except (ValueError, RecursionError) as error:
        raise TokenRefused(f"The token's {name} cannot be read.", reason="malformed") from error
