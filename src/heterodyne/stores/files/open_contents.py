"""Where the bytes of files are, by the settings; what an object store needs is imported only for one."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from heterodyne.ports.file_contents import FileContents
from heterodyne.stores.files.folder import FolderContents
from heterodyne.stores.open_store import sqlite_path, state_folder

FILES = "files"
UPLOADS = "uploads"  # that are not whole yet


def open_contents(files_url: str | None, stores_url: str, environ: Mapping[str, str]) -> FileContents:
    """Nothing is asked of it yet."""
    if files_url is None:
        return FolderContents(own_folder(stores_url, environ))
    if "://" not in files_url:
        return FolderContents(Path(files_url).expanduser())
    if files_url.startswith("file://"):
        return FolderContents(Path(urlsplit(files_url).path))
    from heterodyne.stores.files.object_store import ObjectContents  # noqa: PLC0415 - an extra

    return ObjectContents(files_url)


def own_folder(stores_url: str, environ: Mapping[str, str]) -> Path:
    """Each database has its own: contents that its documents do not know are deleted."""
    state = state_folder(environ)
    if not stores_url.startswith("sqlite:"):
        parts = urlsplit(stores_url)  # without the user and the password, which may change
        named = f"{parts.hostname}:{parts.port}{parts.path}"
        return state / f"{FILES}-{sha256(named.encode()).hexdigest()[:12]}"
    path = sqlite_path(stores_url, environ)
    is_default = path == sqlite_path("sqlite:", environ)
    return state / FILES if is_default else path.with_name(f"{path.name}.{FILES}")


def uploads_folder(environ: Mapping[str, str]) -> Path:
    """Of all workers of this user."""
    return state_folder(environ) / UPLOADS
