"""Request ids: unique across workers, cheap to make."""

from itertools import count


class RequestIds:
    """A random prefix per worker and a counter."""

    def __init__(self, prefix: str) -> None:
        self._prefix = f"req_{prefix}"
        self._numbers = count(1)

    def next(self) -> str:
        return f"{self._prefix}{next(self._numbers):08x}"
