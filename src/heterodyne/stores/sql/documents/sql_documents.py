"""Documents in either database."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeVar

from heterodyne.ports.document_store import Document, DocumentQuery
from heterodyne.stores.sql.documents import scripts
from heterodyne.stores.sql.script import Script

T = TypeVar("T")


class SqlDocuments(ABC):
    """Everything but how a script is run."""

    @abstractmethod
    async def _read(self, script: Script[T]) -> T:
        """Of one moment."""

    @abstractmethod
    async def _write(self, script: Script[T]) -> T:
        """In one transaction, which a script that raises leaves undone."""

    async def add(self, documents: Sequence[Document]) -> bool:
        try:
            await self._write(scripts.add(documents))
        except scripts.IdTaken:
            return False
        return True

    async def append(self, documents: Sequence[Document], now: float) -> bool:
        try:
            return await self._write(scripts.append(documents, now))
        except scripts.IdTaken:
            return False

    async def replace(self, document: Document) -> bool:
        return await self._write(scripts.replace(document))

    async def get(self, project: str, kind: str, id: str, now: float) -> Document | None:
        return await self._read(scripts.get(project, kind, id, now))

    async def get_many(self, kind: str, ids: Sequence[str], now: float) -> tuple[Document, ...]:
        return await self._read(scripts.get_many(kind, ids, now))

    async def chain(
        self, project: str, kind: str, id: str, now: float, *, most: int, bytes_max: int
    ) -> tuple[Document, ...]:
        return await self._read(scripts.chain(project, kind, id, now, most=most, bytes_max=bytes_max))

    async def page(self, query: DocumentQuery) -> tuple[Document, ...]:
        return await self._read(scripts.page(query))

    async def delete(self, project: str, kind: str, id: str) -> bool:
        return await self._write(scripts.delete(project, kind, id))

    async def delete_children(self, project: str, kind: str, parent: str) -> int:
        return await self._write(scripts.delete_children(project, kind, parent))

    async def prolong(self, project: str, ids: Sequence[str], expires_at: float) -> None:
        await self._write(scripts.prolong(project, ids, expires_at))

    async def known(self, ids: Sequence[str], now: float) -> frozenset[str]:
        return await self._read(scripts.known(ids, now))

    async def forget(self, before_at: float, most: int) -> int:
        return await self._write(scripts.forget(before_at, most))
