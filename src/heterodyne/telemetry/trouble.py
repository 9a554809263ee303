"""Says what goes wrong again and again: at once, then once a minute while it lasts, and once when it is over."""

import time
from collections.abc import Callable
from typing import Any

REPEAT_S = 60.0


class Trouble:
    """One per thing that may fail. Any thread may call it; at worst a line is written twice."""

    def __init__(self, log: Any, event: str, *, clock: Callable[[], float] = time.monotonic, **fields: object) -> None:
        self._log = log
        self._event = event
        self._clock = clock
        self._fields = fields
        self._failures = 0
        self._say_at_s = 0.0

    def failed(self, error: BaseException, *, is_ours: bool = False) -> None:
        """One more try failed; `is_ours` has the traceback in the log, as this error was not expected."""
        now_s = self._clock()
        self._failures += 1
        if self._failures > 1 and now_s < self._say_at_s:
            return
        self._say_at_s = now_s + REPEAT_S
        words = f"{type(error).__name__}: {error}"
        if is_ours:
            self._log.error(self._event, error=words, failures=self._failures, exc_info=error, **self._fields)
        else:
            self._log.warning(self._event, error=words, failures=self._failures, **self._fields)

    def worked(self) -> None:
        """It works, again if it did not."""
        if self._failures:
            failures, self._failures = self._failures, 0
            self._log.info(f"{self._event}_over", failures=failures, **self._fields)
