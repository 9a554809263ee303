"""Request ids: unique across workers, cheap to make."""

from typing import Final

LOW: Final = tuple(
    f"{number:02x}" for number in range(256)
)  # the last two digits, which alone change nearly every time


class RequestIds:
    """A random prefix per worker and a counter."""

    def __init__(self, prefix: str) -> None:
        self._prefix = f"req_{prefix}"
        self._number = 0
        self._high = ""

    def next(self) -> str:
        """One that was not there before."""
        self._number = number = self._number + 1
        low = number & 0xFF
        if not low or not self._high:
            self._high = f"{self._prefix}{number >> 8:06x}"
        return self._high + LOW[low]
