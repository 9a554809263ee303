"""The worker's end of what is kept: the database is opened by the first request that needs it, on connections of its
own."""

import os
from collections.abc import Callable

from heterodyne.config.settings import Settings
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.gateway.stored.content_places import ContentPlaces
from heterodyne.gateway.stored.documents import Documents, OpenedStore
from heterodyne.gateway.stored.files.files import Files
from heterodyne.gateway.stored.files.staging import Staging
from heterodyne.gateway.stored.room import StoredRoom
from heterodyne.stores.files.open_contents import open_contents, uploads_folder
from heterodyne.stores.open_store import documents_in, open_database


def stored_room(began: Settings, now: Callable[[], Settings], wall_clock: Callable[[], float]) -> StoredRoom:
    """Nothing is opened yet. Where things are kept is as the worker began with; all else is as it is `now`."""
    url = began.stores.url

    async def open_store() -> OpenedStore:
        database = await open_database(url, os.environ)
        return OpenedStore(documents_in(database), database.close)

    def gateway() -> GatewaySettings:
        return now().gateway

    documents = Documents(open_store, gateway, lambda: now().batches, wall_clock)
    contents = open_contents(began.gateway.files_url, url, os.environ)
    files = Files(documents, contents, Staging(uploads_folder(os.environ)), gateway)
    return StoredRoom(documents, files, content_places(began))


def content_places(settings: Settings) -> ContentPlaces:
    """By what the settings say of their regions."""
    return ContentPlaces(documents=settings.stores.regions, files=settings.gateway.files_regions)
