"""How many questions of a kind are answered at once; one more is refused at once rather than kept waiting."""

from collections.abc import Iterator
from contextlib import contextmanager

from heterodyne.console.errors import ServiceBusy


class Bulkhead:
    """Belongs to one event loop."""

    def __init__(self, most: int, what: str) -> None:
        self._most = most
        self._what = what  # in the plural
        self._taken = 0

    @contextmanager
    def slot(self) -> Iterator[None]:
        """A place for as long as the block lasts; raises `ServiceBusy` where there is none."""
        if self._taken >= self._most:
            raise ServiceBusy(f"No more than {self._most} {self._what} are made at once. Try again in a few seconds.")
        self._taken += 1
        try:
            yield
        finally:
            self._taken -= 1
