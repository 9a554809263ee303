"""The worker's end of the document store: opened by the first request that needs it, on connections of its own."""

import os
from collections.abc import Callable

from heterodyne.config.settings import Settings
from heterodyne.gateway.stored.documents import Documents, OpenedStore
from heterodyne.gateway.stored.room import StoredRoom
from heterodyne.stores.open_store import documents_in, open_database


def stored_room(url: str, settings: Callable[[], Settings], wall_clock: Callable[[], float]) -> StoredRoom:
    """Nothing is opened yet."""

    async def open_store() -> OpenedStore:
        database = await open_database(url, os.environ)
        return OpenedStore(documents_in(database), database.close)

    return StoredRoom(Documents(open_store, lambda: settings().gateway, lambda: settings().batches, wall_clock))
