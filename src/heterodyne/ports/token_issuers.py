"""Who vouches for tokens that are no keys of ours."""

from typing import Protocol

from heterodyne.domain.issued_token import IssuedToken


class TokenChecker(Protocol):
    """Knows the issuers that are trusted, and their keys; asks nobody on the way."""

    def check(self, token: bytes, digest: bytes, now_wall_s: float) -> IssuedToken:
        """What a token stands for; `digest` is its SHA-256. Raises TokenRefused, with what is wrong of it."""
