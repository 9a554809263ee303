"""What stored objects ask of a database: responses, conversations, their items, and chat completions, of each project.

A document that has expired is not there for readers; when it is deleted is up to `forget`.
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct


class Document(Struct, frozen=True, kw_only=True):
    """One object that a client may ask for again. What it says is JSON, which only its own room reads."""

    id: str  # unguessable, and given by us; unique over all kinds and projects
    project: str  # whose it is; to others it is not there
    kind: str  # "response", "chat.completion", "conversation", "item", "file"
    parent: str = ""  # what it follows (a response), belongs to (an item) or is for (a file); "": nothing
    place: int = 0  # among those of its parent
    revision: int = 0  # how often it was replaced, or something was appended to it
    created_at: float  # seconds since the epoch
    expires_at: float
    body: bytes  # JSON


class DocumentQuery(Struct, frozen=True, kw_only=True):
    """Which documents of a project: those of one parent by place, those of any by time."""

    project: str
    kind: str
    parent: str | None = None  # None: any
    after: str = ""  # the id of the last one seen; "": from the beginning
    limit: int
    is_descending: bool = False
    now: float  # seconds since the epoch
    bytes_max: int | None = None  # of all bodies together; more of them raise BodyTooLarge


class DocumentStore(Protocol):
    """Each call is one transaction, and raises StoreUnavailable where the database does not answer."""

    async def add(self, documents: Sequence[Document]) -> bool:
        """All of them, or none; False: one's id is taken."""
        ...

    async def append(self, documents: Sequence[Document], now: float) -> bool:
        """Children of one parent and one kind, in the places after its last; all, or none.

        The parent's revision grows by one. False: the parent is not there, or one's id is taken.
        """
        ...

    async def replace(self, document: Document) -> bool:
        """Whether its body and expiry took the place of the revision before; False: somebody else was quicker."""
        ...

    async def get(self, project: str, kind: str, id: str, now: float) -> Document | None:
        """None: it is not there, or is another project's."""
        ...

    async def get_many(self, kind: str, ids: Sequence[str], now: float) -> tuple[Document, ...]:
        """Those of a kind that are there, of whichever project, in no order. For operators, who see every project."""
        ...

    async def chain(
        self, project: str, kind: str, id: str, now: float, *, most: int, bytes_max: int
    ) -> tuple[Document, ...]:
        """It and what it follows, the oldest first; no more than the latest `most`, and none where it is not there.

        Where the first has a parent, that one is gone, or is beyond `most`. Raises BodyTooLarge where their bodies
        have more than `bytes_max` together, before they are read.
        """
        ...

    async def page(self, query: DocumentQuery) -> tuple[Document, ...]:
        """Those that are asked for, in order; none where `after` is not among them."""
        ...

    async def delete(self, project: str, kind: str, id: str) -> bool:
        """Whether it was there. It alone: its children are deleted after it, so that none is appended meanwhile."""
        ...

    async def delete_children(self, project: str, kind: str, parent: str) -> int:
        """All of a kind that belong to it; how many."""
        ...

    async def prolong(self, project: str, ids: Sequence[str], expires_at: float) -> None:
        """Keep them until then at least; those that are kept for longer, or are not there, are left alone."""
        ...

    async def known(self, ids: Sequence[str], now: float) -> frozenset[str]:
        """Which of them are there, of any kind and project."""
        ...

    async def forget(self, before_at: float, most: int) -> int:
        """Delete some that expired before a time; how many."""
        ...
