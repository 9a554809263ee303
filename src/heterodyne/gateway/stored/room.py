"""All that a worker has for what clients may ask for again."""

from heterodyne.domain.tenant import Caller
from heterodyne.gateway.stored.background import Background
from heterodyne.gateway.stored.content_places import ContentPlaces
from heterodyne.gateway.stored.documents import Documents
from heterodyne.gateway.stored.files.files import Files
from heterodyne.gateway.stored.files.upload import Upload
from heterodyne.gateway.stored.keeper import Keeper
from heterodyne.gateway.stored.work import StoredWorks


class StoredRoom:
    """One per worker."""

    def __init__(self, documents: Documents, files: Files, places: ContentPlaces) -> None:
        self.documents = documents
        self.files = files
        self.places = places
        self.works = StoredWorks()
        self.keeper = Keeper(documents, self.works)
        self.background = Background(documents, places)

    def __len__(self) -> int:
        """What is under way."""
        return len(self.works) + len(self.background) + len(self.files)

    def begin_upload(self, headers: dict[bytes, bytes], caller: Caller) -> Upload:
        """What takes the file behind this head; raises where it may not be kept, or can be no file's."""
        self.places.check_files(caller)
        return self.files.begin(headers)

    async def close(self) -> None:
        """What is being written is written."""
        self.files.close()
        await self.background.close()
        await self.works.close()
        await self.documents.close()
