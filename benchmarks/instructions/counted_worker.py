"""A gateway's worker as it is, but for the timer that watches its loop and for numpy.

The timer fires by the clock, which valgrind does not slow down, and not by what is done. Some versions of valgrind
cannot read the debug information of numpy's libraries; a worker asks one thing of it, whether a text is plain ASCII,
and what stands in for it here looks at as many bytes at a time. Files for the supervisor's sums are loaded with the
stores and name more of it, which nothing in a worker calls.
"""

import sys
from types import ModuleType
from unittest.mock import MagicMock


class Whole:
    """In the place of an array, of the whole body."""

    def __init__(self, data: bytes, *_: object) -> None:
        self._is_ascii = data.isascii()

    def min(self) -> int:
        """As of signed bytes; control characters are none in a benchmark."""
        return 0x20 if self._is_ascii else -1


def stand_in(name: str) -> ModuleType:
    """For numpy and what is in it."""
    module = ModuleType(name)
    module.frombuffer, module.int8 = Whole, None  # type: ignore[attr-defined]  # a module takes any
    module.__getattr__ = lambda _: MagicMock()  # type: ignore[method-assign]  # names that are only named
    return module


if __name__ == "__main__":
    for name in ("numpy", "numpy.typing"):
        sys.modules[name] = stand_in(name)

    from heterodyne.assembly import worker
    from heterodyne.gateway import loop_lag

    loop_lag.PERIOD_S = 3600.0
    worker.main()
