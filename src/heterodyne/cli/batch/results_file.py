"""The results of a batch on their way to a file or to stdout, piece by piece; a file is there whole or not at all."""

from collections.abc import Iterator
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import BinaryIO

from heterodyne.cli.batch.batch_client import BatchClient
from heterodyne.cli.progress import counting
from heterodyne.domain.errors import EngineBroke, InvalidSpec

PIECE_BYTES = 256 << 10


def check_free(path: Path | None, *, may_replace: bool) -> None:
    """Raises InvalidSpec where a file is there that nobody wants replaced."""
    if path is not None and path.exists() and not may_replace:
        raise InvalidSpec(f"{path} is there already; --force replaces it")


def write_file(client: BatchClient, file_id: str, path: Path) -> int:
    """Into a `.part` beside it, which becomes the file at the end; how many bytes it has."""
    part = path.with_name(f"{path.name}.part")
    try:
        with client.content(file_id) as response, part.open("wb") as file:
            size_bytes = _copy(response, file, path.name)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return size_bytes


def _copy(response: HTTPResponse, file: BinaryIO, name: str) -> int:
    size_bytes = 0
    # Without a length there is no bar: it could not say how far it is.
    with counting(name, response.length or 0, is_json=response.length is None) as more:
        for piece in pieces(response):
            file.write(piece)
            size_bytes += len(piece)
            more(len(piece))
    return size_bytes


def pieces(response: HTTPResponse) -> Iterator[bytes]:
    """All of it; raises EngineBroke where it is not whole."""
    told_bytes, size_bytes = response.length, 0
    while piece := _piece(response):
        size_bytes += len(piece)
        yield piece
    if told_bytes is not None and size_bytes != told_bytes:
        raise EngineBroke(f"the results were cut short: {size_bytes} of {told_bytes} bytes came")


def _piece(response: HTTPResponse) -> bytes:
    try:
        return response.read(PIECE_BYTES)
    except (OSError, HTTPException) as error:
        raise EngineBroke("the results were cut short: the gateway closed the connection") from error
