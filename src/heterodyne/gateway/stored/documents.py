"""The worker's end of the document store: opened when it is first needed, for most requests never need it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple

from msgspec import structs

from heterodyne.batches.settings import BatchSettings
from heterodyne.domain.errors import HeterodyneError, StoreUnavailable, UnknownObject
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.ports.document_store import Document, DocumentQuery, DocumentStore

DAY_S: Final = 86400.0
HOUR_S: Final = 3600.0
CHAIN_MAX: Final = 1000  # responses that follow each other
ITEMS_MAX: Final = 10_000  # of a conversation, that the model is shown
PROLONGED_SHARE: Final = 0.1  # of the days that things are kept for, between two notes that they were used


class OpenedStore(NamedTuple):
    """A store, and what closes it."""

    store: DocumentStore
    close: Callable[[], Awaitable[None]]


OpenStore = Callable[[], Awaitable[OpenedStore]]


class Documents:
    """One per worker. What is another project's is not there."""

    def __init__(
        self,
        open_store: OpenStore,
        settings: Callable[[], GatewaySettings],
        batches: Callable[[], BatchSettings],
        wall_clock: Callable[[], float],
    ) -> None:
        self._open_store = open_store
        self._settings = settings  # as they are now
        self._batches = batches
        self.wall_clock = wall_clock
        self._opened_store: OpenedStore | None = None
        self._opening = asyncio.Lock()

    async def add(self, project: str, *, kind: str, id: str, body: bytes, parent: str = "") -> Document:
        """A new one."""
        document = self._document(project, kind=kind, id=id, body=body, parent=parent)
        await (await self._opened()).add([document])
        return document

    async def add_all(self, documents: Sequence[Document]) -> None:
        """New ones that say themselves how long they are kept; all, or none."""
        await (await self._opened()).add(documents)

    async def append(self, project: str, parent: str, kind: str, items: Sequence[tuple[str, bytes]]) -> bool:
        """Ids and bodies, behind those that the parent has; False: there is no such parent."""
        documents = [self._document(project, kind=kind, id=id, body=body, parent=parent) for id, body in items]
        return await (await self._opened()).append(documents, self.wall_clock())

    async def replace(self, document: Document, body: bytes) -> bool:
        """Whether it says this now; False: somebody has changed it since it was read."""
        changed = structs.replace(document, body=body, revision=document.revision + 1)
        return await (await self._opened()).replace(changed)

    async def try_get(self, project: str, kind: str, id: str) -> Document | None:
        return await (await self._opened()).get(project, kind, id, self.wall_clock())

    async def get(self, project: str, kind: str, id: str) -> Document:
        """Raises UnknownObject."""
        found = await self.try_get(project, kind, id)
        if found is None:
            raise unknown(kind, id)
        return found

    async def chain(self, project: str, kind: str, id: str) -> tuple[Document, ...]:
        """It and what it follows, the oldest first; empty where it is not there, or something before it is not.

        Both this and `children` raise BodyTooLarge for more than a model can be shown.
        """
        store = await self._opened()
        found = await store.chain(project, kind, id, self.wall_clock(), most=CHAIN_MAX, bytes_max=self.bytes_max)
        if not found or found[0].parent:
            return ()
        await self._prolong(store, project, found)
        return found

    async def children(self, parent: Document, kind: str) -> tuple[Document, ...]:
        """All, in their order."""
        project = parent.project
        query = DocumentQuery(
            project=project,
            kind=kind,
            parent=parent.id,
            limit=ITEMS_MAX,
            now=self.wall_clock(),
            bytes_max=self.bytes_max,
        )
        store = await self._opened()
        found = await store.page(query)
        await self._prolong(store, project, (parent, *found))
        return found

    async def page(
        self, project: str, kind: str, *, parent: str | None, after: str, limit: int, is_descending: bool
    ) -> tuple[tuple[Document, ...], bool]:
        """So many, and whether there are more."""
        query = DocumentQuery(
            project=project,
            kind=kind,
            parent=parent,
            after=after,
            limit=limit + 1,
            is_descending=is_descending,
            now=self.wall_clock(),
        )
        found = await (await self._opened()).page(query)
        return found[:limit], len(found) > limit

    async def delete(self, project: str, kind: str, id: str) -> None:
        """Raises UnknownObject."""
        if not await (await self._opened()).delete(project, kind, id):
            raise unknown(kind, id)

    async def delete_children(self, project: str, kind: str, parent: str) -> None:
        await (await self._opened()).delete_children(project, kind, parent)

    @property
    def bytes_max(self) -> int:
        """Of what the model is shown."""
        return self._settings().body_bytes_max

    @property
    def lines_max(self) -> int:
        """Of a batch."""
        return self._batches().lines_max

    @property
    def window_max_s(self) -> float:
        """The longest that a batch may take."""
        return self._batches().window_max_hours * HOUR_S

    @property
    def expires_at(self) -> float:
        """Of what is used now."""
        return self.wall_clock() + self._settings().stored_days * DAY_S

    async def _prolong(self, store: DocumentStore, project: str, used: Sequence[Document]) -> None:
        """What is used is kept for as long as what is new; that is noted once in a while, not in every turn."""
        expires_at = self.expires_at
        due = expires_at - PROLONGED_SHARE * self._settings().stored_days * DAY_S
        old = [one.id for one in used if one.expires_at < due]
        if old:
            await store.prolong(project, old, expires_at)

    def _document(self, project: str, *, kind: str, id: str, body: bytes, parent: str) -> Document:
        return Document(
            id=id,
            project=project,
            kind=kind,
            parent=parent,
            created_at=self.wall_clock(),
            expires_at=self.expires_at,
            body=body,
        )

    async def close(self) -> None:
        """Whatever was opened."""
        if self._opened_store is not None:
            await self._opened_store.close()

    async def _opened(self) -> DocumentStore:
        async with self._opening:
            if self._opened_store is None:
                try:
                    self._opened_store = await self._open_store()
                except StoreUnavailable:
                    raise
                except HeterodyneError as error:  # an address that is wrong, a database of a newer version
                    raise StoreUnavailable(error.message) from error
        return self._opened_store.store


def unknown(kind: str, id: str) -> UnknownObject:
    """The same of what never was, was deleted, has expired, or is another's."""
    return UnknownObject(f"There is no {kind} {id[:100]!r}.")
