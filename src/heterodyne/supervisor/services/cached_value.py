"""A value that is made when it is asked for and kept for a while; all callers meanwhile get the same one."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class CachedValue(Generic[T]):
    """Belongs to one event loop. What fails is not kept: the next caller tries again."""

    def __init__(
        self, make: Callable[[], Awaitable[T]], *, for_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._make = make
        self._for_s = for_s
        self._clock = clock
        self._making = asyncio.Lock()
        self._found: tuple[float, T] | None = None  # until when it is good, and itself

    async def get(self) -> T:
        """The value, at most so old."""
        async with self._making:
            if self._found is None or self._clock() >= self._found[0]:
                value = await self._make()
                self._found = self._clock() + self._for_s, value
            return self._found[1]
