"""What a token of another issuer says, once its signature was checked, and the callers that tokens alone stand for."""

from typing import Final

from msgspec import Struct

from heterodyne.domain.tenant import KeyId

TOKENS_OF: Final = "token:"  # how the ids begin of callers that are whole projects


class IssuedToken(Struct, frozen=True, kw_only=True):
    """For whom it stands here, and until when."""

    stands_for: KeyId  # of a key, or of a whole project
    ends_at: float  # by the wall's clock


def stand_in_of(key_or_project: str) -> KeyId:
    """The id of a key is its own; a project is asked for by an id that no key has."""
    return KeyId(TOKENS_OF + key_or_project if "/" in key_or_project else key_or_project)
