"""What a socket gave at once and one turn of the loop does not read."""

from typing import Final, final

from heterodyne.wire.request_reader import RequestReader

SLICE_BYTES: Final = 16384  # read at once, unless they are of a body of known length that is held


@final
class Unread:
    """One per connection. Reading moves a mark; what is left is not copied."""

    __slots__ = ("_at", "_data", "size")

    def __init__(self) -> None:
        self._data = b""
        self._at = 0
        self.size = 0  # bytes that are left

    def add(self, data: bytes) -> None:
        """Behind what is left."""
        self._data = self._data[self._at :] + data if self.size else data
        self._at = 0
        self.size = len(self._data)

    def feed(self, reader: RequestReader) -> None:
        """The next of it, as much as is quickly read."""
        start, body_bytes = self._at, reader.body_bytes_left
        is_quick = body_bytes > 0 and (body_bytes <= SLICE_BYTES or not reader.body.has_sink)
        end = min(start + (body_bytes if is_quick else SLICE_BYTES), len(self._data))
        data = self._data
        self._at, self.size = end, self.size - (end - start)
        if not self.size:
            self.clear()
        if body_bytes > 0:
            reader.feed_body(memoryview(data)[start:end])
        else:
            reader.feed(data[start:end])

    def clear(self) -> None:
        """It will not be read."""
        self._data, self._at, self.size = b"", 0, 0
