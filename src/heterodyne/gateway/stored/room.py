"""All that a worker has for what clients may ask for again."""

from heterodyne.gateway.stored.documents import Documents
from heterodyne.gateway.stored.keeper import Keeper
from heterodyne.gateway.stored.work import StoredWorks


class StoredRoom:
    """One per worker."""

    def __init__(self, documents: Documents) -> None:
        self.documents = documents
        self.works = StoredWorks()
        self.keeper = Keeper(documents, self.works)

    async def close(self) -> None:
        """What is being written is written."""
        await self.works.close()
        await self.documents.close()
