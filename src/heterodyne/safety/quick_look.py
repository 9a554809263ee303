"""Which telling characters a text has. One pass in C decides which searches are worth their time."""

from typing import Final

DIGITS: Final = b"0123456789"


def everything_but(telling: bytes) -> bytes:
    """What `tell` leaves out, for the characters that are to be kept."""
    return bytes(set(range(256)) - set(telling))


def tell(text: str, left_out: bytes) -> bytes:
    """The telling characters of a text, in order. Only ASCII can be told."""
    return text.encode("utf-8", "replace").translate(None, left_out)
