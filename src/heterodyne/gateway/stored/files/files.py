"""The worker's end of files: uploads begin here, documents tell of them, and their bytes are elsewhere."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from secrets import token_bytes
from typing import Final

from heterodyne.batches.file_object import ID_BYTES, KIND, file_document, file_id, file_object
from heterodyne.domain.errors import HeterodyneError, StoreUnavailable
from heterodyne.gateway.form_heads import boundary_of
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.gateway.stored.documents import Documents
from heterodyne.gateway.stored.files.download import PIECE_BYTES, Download
from heterodyne.gateway.stored.files.staging import StagedFile, Staging
from heterodyne.gateway.stored.files.upload import Upload, UploadedFile
from heterodyne.ports.document_store import Document
from heterodyne.ports.file_contents import FileContents
from heterodyne.wire.server_connection import ServerConnection

LONGEST_S: Final = 600.0  # for what is done with a whole file; an object store is sent all of it


class Files:
    """One per worker."""

    def __init__(
        self, documents: Documents, contents: FileContents, staging: Staging, settings: Callable[[], GatewaySettings]
    ) -> None:
        self.documents = documents
        self._contents = contents
        self._staging = staging
        self._settings = settings  # as they are now
        self._downloads: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        """What is being sent to clients."""
        return len(self._downloads)

    def begin(self, headers: dict[bytes, bytes]) -> Upload:
        """What takes the body behind this head; raises where it cannot be a file's."""
        boundary = boundary_of(headers)
        settings = self._settings()
        return Upload(
            boundary, self._staging, file_bytes_max=settings.file_bytes_max, line_bytes_max=settings.body_bytes_max
        )

    async def keep(self, project: str, uploaded: UploadedFile) -> Document:
        """The bytes first: a document tells of no file that is not there."""
        now, documents = self.documents.wall_clock(), self.documents
        after_s = uploaded.expires_after_s
        document = file_document(
            project,
            id=file_id(token_bytes(ID_BYTES)),
            filename=uploaded.filename,
            purpose=uploaded.purpose,
            size_bytes=uploaded.size_bytes,
            created_at=now,
            expires_at=documents.expires_at if after_s is None else now + after_s,
            is_expiry_told=True,
        )
        await self._contents.put(document.id, uploaded.path)
        try:
            await documents.add_all([document])
        except HeterodyneError:
            await self._forget(document.id)
            raise
        return document

    async def keep_bytes(self, project: str, content: bytes, *, filename: str, purpose: str) -> Document:
        """The same of a file that was not sent as one."""
        staged = StagedFile(self._staging)
        try:
            await asyncio.to_thread(staged.write, content)
            return await self.keep(project, UploadedFile(staged.close(), filename, purpose, len(content), None))
        finally:
            staged.discard()

    async def delete(self, project: str, id: str) -> None:
        """The document first: from then on it is not there, whatever becomes of its bytes. Raises UnknownObject."""
        await self.documents.delete(project, KIND, id)
        await self._forget(id)

    async def open(self, project: str, id: str) -> Download:
        """With its first piece; raises UnknownObject."""
        document = await self.documents.get(project, KIND, id)
        size_bytes = file_object(document).bytes
        first = await self._contents.read(id, 0, PIECE_BYTES)
        if size_bytes and not first:
            raise StoreUnavailable(
                "The file is known, and its content is not in the gateway.files_url of this gateway."
            )
        return Download(self._contents, id, size_bytes, first)

    def send(self, download: Download, connection: ServerConnection) -> None:
        """The rest of the current answer."""
        task = download.start(connection)
        self._downloads.add(task)
        task.add_done_callback(self._downloads.discard)

    def close(self) -> None:
        """Nobody is sent anything any more."""
        for task in tuple(self._downloads):
            task.cancel()

    async def _forget(self, id: str) -> None:
        """What cannot be deleted now is found by the supervisor, as no document knows it."""
        with suppress(StoreUnavailable):
            await self._contents.delete(id)
