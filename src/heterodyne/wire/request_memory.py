"""The last request of a connection, as far as the next one may be known by it."""

from typing import final

from heterodyne.wire.head_memory import HeadMemory
from heterodyne.wire.message import HttpRequest


@final
class RequestMemory:
    """One per connection. A head is kept where the one before it asked for the same: there may be more of them."""

    __slots__ = ("_head", "_method", "_new", "_path", "_query")

    def __init__(self) -> None:
        self._head = HeadMemory()
        self._new: dict[bytes, bytes] | None = None  # what the last head says, where it is to be kept
        self._method, self._path, self._query = b"", b"", b""

    @property
    def headers(self) -> dict[bytes, bytes]:
        """Of the head that was recalled."""
        return self._head.headers

    def request(self, headers: dict[bytes, bytes], *, keep_alive: bool, speaks_chunked: bool) -> HttpRequest:
        """What the last head asks for."""
        return HttpRequest(
            method=self._method,
            path=self._path,
            query=self._query,
            headers=headers,
            keep_alive=keep_alive,
            speaks_chunked=speaks_chunked,
        )

    def read(self, method: bytes, url: bytes, headers: dict[bytes, bytes], *, is_plain: bool) -> None:
        """A head was parsed; `is_plain`: nothing but its length tells where the request ends."""
        path, _, query = url.partition(b"?")
        if is_plain and path == self._path and query == self._query and method == self._method:
            self._new = headers
        else:
            self.forget()
            self._new = None
            self._method, self._path, self._query = method, path, query

    def keep(self, data: bytes, length: int) -> None:
        """The piece that the head came in; one that is not all of one request tells nothing."""
        headers, self._new = self._new, None
        if headers is None:
            return
        end = data.find(b"\r\n\r\n") + 4
        if end + length == len(data):
            self._head.keep(data[:end], headers)

    def recall(self, data: bytes) -> int:
        """Where the head ends that the data begin with; 0: it is another."""
        return self._head.recall(data)

    def forget(self) -> None:
        """There is nothing to be recalled."""
        self._head.forget()
