"""Where in a worker's spool records were read."""

from msgspec import Struct


class SpoolPlace(Struct, frozen=True, kw_only=True):
    """Some bytes of a segment. What is in the store up to `end` is never read again, and need not be compared."""

    segment: str  # its name, which no other segment ever has
    start: int
    end: int
    may_repeat: bool = False  # holds records that another segment may hold too: each is looked for by its id
