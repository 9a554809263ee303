"""The public keys of one issuer, as it has told them (JWKS), and whether one of them has signed a token."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import TokenRefused
from heterodyne.identity.compact_token import CompactToken

KEYS_MAX: Final = 64
# Which keys each way of signing takes. None of these can be had from what everybody may know.
KINDS: Final = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}
MISSING: Final = "tokens of issuers need the extra `oidc`: pip install 'heterodyne[oidc]'"


class Told(Struct):
    """What an issuer answers."""

    keys: list[dict[str, Any]]


class KeySet:
    """All that was told at one time."""

    def __init__(self, keys: tuple[dict[str, Any], ...] = ()) -> None:
        self._keys = keys
        self._read: dict[tuple[int, str], Any] = {}  # by the place of a key, and how it signs

    def __len__(self) -> int:
        return len(self._keys)

    def has_all_of(self, other: "KeySet") -> bool:
        """Whether none of the other's keys was taken back."""
        return all(key in self._keys for key in other._keys)

    def knows(self, token: CompactToken) -> bool:
        """Whether there is a key that the token may be signed with."""
        return bool(self._fitting(token))

    def check(self, token: CompactToken) -> None:
        """Raises where it was signed by none of these keys."""
        fitting = self._fitting(token)
        if not fitting:
            raise TokenRefused("The token is signed with a key that its issuer does not name.", reason="unknown_key")
        if len(fitting) > 1:
            raise TokenRefused(
                "The token does not say which of its issuer's keys it is signed with (kid).", reason="unknown_key"
            )
        if not self._is_signed(token, fitting[0]):
            raise TokenRefused("The token's signature is not that of its issuer.", reason="bad_signature")

    def _fitting(self, token: CompactToken) -> list[int]:
        kind = KINDS.get(token.algorithm[:2])
        return [
            place
            for place, key in enumerate(self._keys)
            if key.get("kty") == kind
            and key.get("alg", token.algorithm) == token.algorithm
            and (token.key_id is None or key.get("kid") == token.key_id)
        ]

    def _is_signed(self, token: CompactToken, place: int) -> bool:
        import jwt  # noqa: PLC0415  # an extra

        try:
            key = self._read.get((place, token.algorithm))
            if key is None:
                key = self._read[place, token.algorithm] = jwt.PyJWK(self._keys[place], algorithm=token.algorithm)
            jwt.PyJWS(algorithms=[token.algorithm], options={"enforce_minimum_key_length": True}).decode_complete(
                token.sent, key, algorithms=[token.algorithm]
            )
        except jwt.PyJWTError:
            return False
        return True


def read_key_set(body: bytes) -> KeySet:
    """Raises ValueError where it is none; keys that do not sign are left out."""
    try:
        told = msgspec.json.decode(body, type=Told)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its keys cannot be read: {error}") from error
    signing = tuple(key for key in told.keys if _signs(key))
    if not signing:
        raise ValueError("it names no key that signs")
    if len(signing) > KEYS_MAX:
        raise ValueError(f"it names {len(signing)} keys; at most {KEYS_MAX} are taken")
    return KeySet(signing)


def _signs(key: Mapping[str, Any]) -> bool:
    return key.get("kty") in KINDS.values() and key.get("use", "sig") == "sig"
