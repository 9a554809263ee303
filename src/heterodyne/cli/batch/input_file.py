"""The input of a batch: a first look at it before anything is sent, and the form that carries it piece by piece."""

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import CallerError, InvalidSpec

PIECE_BYTES = 256 << 10
LINE_BYTES_MAX = 8 << 20  # as gateways have it


class FirstLine(Struct, frozen=True):
    """What is looked at; all else is for the gateway to judge."""

    url: str | None = None


class BatchInput(NamedTuple):
    """A file that may be sent."""

    path: Path
    size_bytes: int
    endpoint: str


def look_at(path: Path, endpoint: str | None) -> BatchInput:
    """Raises InvalidSpec with what is wrong; without an endpoint, it is the first line's."""
    if not path.is_file():
        raise InvalidSpec(f"{path} is not a file on a disk; write the lines into one first")
    number, line = _first_line(path)
    try:
        first = msgspec.json.decode(line, type=FirstLine)
    except msgspec.ValidationError as error:
        raise InvalidSpec(f"{path}: line {number} is not a request of a batch: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidSpec(f"{path}: line {number} is not JSON: {error}") from error
    if endpoint is None and first.url is None:
        raise InvalidSpec(f"{path}: line {number} has no url; name one, for example --endpoint /v1/chat/completions")
    if endpoint is not None and first.url not in (None, endpoint):
        raise InvalidSpec(f"{path}: line {number} is for {first.url}, and --endpoint says {endpoint}")
    return BatchInput(path, path.stat().st_size, endpoint or first.url or "")


def _first_line(path: Path) -> tuple[int, bytes]:
    """That has something in it, with its number."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(LINE_BYTES_MAX + 1):
            number += 1
            if len(line) > LINE_BYTES_MAX:
                raise InvalidSpec(f"{path}: line {number} has more than {LINE_BYTES_MAX >> 20} MiB")
            if line.strip():
                return number, line
    raise InvalidSpec(f"{path} is empty; a batch has one request a line")


class UploadForm:
    """A file as `multipart/form-data`; iterating reads it, and it is never held."""

    def __init__(self, input: BatchInput, sent: Callable[[int], None]) -> None:
        """`sent` is called with how many more bytes have gone."""
        self._input = input
        self._sent = sent
        boundary = secrets.token_hex(24)
        # A quote would end the name; gateways only show it.
        name = input.path.name.encode("utf-8", "replace").decode().translate({34: "_", 92: "_", 10: "_", 13: "_"})
        self._before = (
            f'--{boundary}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
            f'--{boundary}\r\ncontent-disposition: form-data; name="file"; filename="{name}"\r\n'
            "content-type: application/jsonl\r\n\r\n"
        ).encode()
        self._behind = f"\r\n--{boundary}--\r\n".encode()
        self.headers = {
            "content-type": f"multipart/form-data; boundary={boundary}",
            "content-length": str(len(self._before) + input.size_bytes + len(self._behind)),
        }

    def __iter__(self) -> Iterator[bytes]:
        yield self._before
        left = self._input.size_bytes
        with self._input.path.open("rb") as file:
            while left:
                piece = self._read(file.read, min(PIECE_BYTES, left))
                yield piece
                left -= len(piece)
                self._sent(len(piece))
        yield self._behind

    def _read(self, read: Callable[[int], bytes], size_bytes: int) -> bytes:
        """Errors have a name of their own here: the connection's are told as the gateway's."""
        try:
            piece = read(size_bytes)
        except OSError as error:
            raise CallerError(f"{self._input.path} cannot be read: {error.strerror or error}") from error
        if not piece:
            raise CallerError(f"{self._input.path} became shorter while it was sent; nothing was submitted")
        return piece
