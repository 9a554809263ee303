"""Whether bytes are printable ASCII, all of them looked at at once where numpy is there.

It weighs ten megabytes and takes a tenth of a second to import, so a worker has it from its first long text on.
"""

import threading
from types import ModuleType
from typing import Final

SPACE_BYTE: Final = 0x20  # what is below it is a control character


class PlainAscii:
    """One per process."""

    def __init__(self) -> None:
        self._numpy: ModuleType | None = None
        self._fetching: threading.Thread | None = None

    def try_check(self, body: bytes, start: int, end: int) -> bool | None:
        """None: it cannot be said yet."""
        numpy = self._numpy
        if numpy is None:
            if self._fetching is None:
                self._fetching = threading.Thread(target=self.fetch, name="numpy", daemon=True)
                self._fetching.start()
            return None
        # As signed numbers, bytes outside ASCII and control characters are both below the space.
        return bool(numpy.frombuffer(body, numpy.int8, end - start, start).min() >= SPACE_BYTE)

    def fetch(self) -> None:
        """Import it; blocks."""
        import numpy  # noqa: PLC0415  # see above

        self._numpy = numpy


PLAIN_ASCII: Final = PlainAscii()
