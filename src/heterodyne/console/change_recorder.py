"""Writes a change into the audit log around making it: the request before anything is done, then the outcome.

So a change that cannot be written down is not made, and one that was made has at least one entry, whatever is killed
in between. The outcome is in the log before the answer is given.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import msgspec
from msgspec import Struct

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.audit import ChangeEntry
from heterodyne.domain.errors import HeterodyneError, InternalError, StoreUnavailable
from heterodyne.ports.audit import ChangeLog

ASKED = "asked"  # the outcome of a change that has none yet
TIMEOUT_S = 5.0  # shorter than a terminal waits for its answer

T = TypeVar("T")


class Intent(Struct, frozen=True, kw_only=True):
    """A change that a person asks for. No field of it holds a secret."""

    who: str
    what: str  # keys.revoke
    subject: str
    wanted: object = None  # the change in full, fit for JSON


class Effect(Struct, frozen=True, kw_only=True):
    """What a change did, fit for JSON."""

    subject: str | None = None  # None: as it was asked for
    before: object = None  # None: there was nothing
    after: object = None  # None: nothing is left


class ChangeRecorder:
    """One per audit log. Belongs to one event loop; the log blocks, so it is written to in a thread."""

    def __init__(self, log: ChangeLog, *, clock: Callable[[], float] = time.time, timeout_s: float = TIMEOUT_S) -> None:
        self._log = log
        self._clock = clock
        self._timeout_s = timeout_s
        # One thread of its own: a disk that hangs must not take the threads that others wait for.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="change-recorder")

    async def carry_out(self, intent: Intent, act: Callable[[], Awaitable[T]], effect: Callable[[T], Effect]) -> T:
        """The result of the change; raises `StoreUnavailable` or `AuditBroken` where it cannot be written down."""
        await self._record(intent, ASKED, Effect(after=intent.wanted))
        try:
            done = await act()
        except HeterodyneError as error:
            await self._record(intent, error.code, Effect())
            raise
        except Exception:
            await self._record(intent, InternalError.code, Effect())
            raise
        try:
            await self._record(intent, "", effect(done))
        except HeterodyneError as error:
            raise StoreUnavailable(
                f"The change was made, and the audit log has only that it was asked for: {error.message}"
            ) from error
        return done

    async def _record(self, intent: Intent, outcome: str, effect: Effect) -> None:
        entry = ChangeEntry(
            at=self._clock(),
            who=intent.who,
            what=intent.what,
            subject=intent.subject if effect.subject is None else effect.subject,
            before=_json(effect.before),
            after=_json(effect.after),
            outcome=outcome,
        )
        writing = asyncio.get_running_loop().run_in_executor(self._thread, self._log.record, entry)
        try:
            async with deadline(self._timeout_s):
                await writing
        except TimeoutError as error:
            raise StoreUnavailable(f"The audit log took no entry within {self._timeout_s:g} s.") from error


def _json(value: object) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()
