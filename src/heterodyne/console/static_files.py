"""The page itself: the files of this package.

Everything is read once, when the server starts, and only what was found then is served: no path of a request ever
reaches the file system.
"""

import gzip
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from heterodyne.console.render import error_answer
from heterodyne.domain.errors import UnknownPath

FOLDER = Path(__file__).parent / "static"
INDEX = "index.html"
CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
COMPRESSED_ALREADY = (".png", ".woff2", ".ico")


class StaticFile(Struct, frozen=True, kw_only=True):
    """One file, in memory."""

    content: bytes
    gzipped: bytes | None  # None: it would not be smaller
    content_type: str
    etag: str


def page_routes(files: Mapping[str, StaticFile] | None = None) -> list[Route]:
    """The page and its files; open without a key, because there is nothing in them but code."""
    found = _found() if files is None else files

    async def index(request: Request) -> Response:
        return _answer(request, found.get(INDEX))

    async def static(request: Request) -> Response:
        return _answer(request, found.get(request.path_params["path"]))

    return [Route("/", index), Route("/static/{path:path}", static)]


def read_file(path: Path) -> StaticFile:
    """For serving."""
    content = path.read_bytes()
    gzipped = None if path.suffix in COMPRESSED_ALREADY else gzip.compress(content, mtime=0)
    return StaticFile(
        content=content,
        gzipped=gzipped if gzipped is not None and len(gzipped) < len(content) else None,
        content_type=CONTENT_TYPES[path.suffix],
        etag=sha256(content).hexdigest()[:32],
    )


@cache
def _found() -> dict[str, StaticFile]:
    return {name: read_file(path) for name, path in _places()}


def _places() -> Iterator[tuple[str, Path]]:
    for path in sorted(FOLDER.rglob("*")):
        if path.is_file() and path.suffix in CONTENT_TYPES:
            yield path.relative_to(FOLDER).as_posix(), path


def _answer(request: Request, file: StaticFile | None) -> Response:
    if file is None:
        return error_answer(UnknownPath(f"There is no {request.url.path[:200]} here."))
    is_gzipped = file.gzipped is not None and _accepts_gzip(request.headers.get("accept-encoding", ""))
    etag = f'"{file.etag}-gzip"' if is_gzipped else f'"{file.etag}"'
    # A browser asks each time whether a file has changed: after an upgrade no page is half of an old one.
    headers = {"etag": etag, "cache-control": "no-cache", "vary": "accept-encoding"}
    if etag in _validators(request.headers.get("if-none-match", "")):
        return Response(status_code=304, headers=headers)
    if is_gzipped:
        headers["content-encoding"] = "gzip"
    headers["content-type"] = file.content_type
    return Response(file.gzipped if is_gzipped else file.content, headers=headers)


def _accepts_gzip(header: str) -> bool:
    for one in header.split(","):
        name, _, quality = one.partition(";")
        if name.strip().lower() in ("gzip", "*"):
            return quality.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def _validators(header: str) -> frozenset[str]:
    return frozenset(one.strip().removeprefix("W/") for one in header.split(","))
