"""What a model thought, as clients without a store carry it from turn to turn.

They know the member as `encrypted_content`. It holds no more than the text that they were given beside it, so it is
not encrypted; a prefix tells it from what others made.
"""

from base64 import b64decode, b64encode
from binascii import Error
from typing import Final

from heterodyne.domain.errors import InvalidField

PREFIX: Final = "heterodyne1."


def seal(thoughts: str) -> str:
    """For the client to send back."""
    return PREFIX + b64encode(thoughts.encode()).decode()


def read_sealed(sealed: str, path: str) -> str:
    """The thoughts again."""
    try:
        if not sealed.startswith(PREFIX):
            raise ValueError
        return b64decode(sealed.removeprefix(PREFIX), validate=True).decode()
    except (Error, ValueError) as error:
        raise InvalidField(f"{path}: these thoughts were sealed by somebody else, who alone can read them.") from error
