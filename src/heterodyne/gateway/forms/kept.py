"""What of an answer is kept, so that its client can ask for it again."""

from typing import Protocol

from msgspec import Struct


class KeptObject(Struct, frozen=True, kw_only=True):
    """One, as its API tells it; its tenant and its times are the store's to add."""

    kind: str
    id: str
    body: bytes  # JSON
    parent: str = ""  # what it follows; empty: nothing
    conversation: str = ""  # that goes on with it; empty: none
    items: list[bytes] = []  # that it adds to the conversation
    is_begun: bool = False  # it stands in the store already, and is complete now


class KeptAnswer(Protocol):
    """A whole answer that is kept before its client hears of it."""

    def response(self, *, is_kept: bool) -> bytes:
        """As its client gets it."""
        ...

    def kept(self) -> KeptObject: ...
