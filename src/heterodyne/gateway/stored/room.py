"""All that a worker has for what clients may ask for again."""

from heterodyne.gateway.stored.background import Background
from heterodyne.gateway.stored.documents import Documents
from heterodyne.gateway.stored.keeper import Keeper
from heterodyne.gateway.stored.work import StoredWorks


class StoredRoom:
    """One per worker."""

    def __init__(self, documents: Documents) -> None:
        self.documents = documents
        self.works = StoredWorks()
        self.keeper = Keeper(documents, self.works)
        self.background = Background(documents)

    def __len__(self) -> int:
        """What is under way."""
        return len(self.works) + len(self.background)

    async def close(self) -> None:
        """What is being written is written."""
        await self.background.close()
        await self.works.close()
        await self.documents.close()
