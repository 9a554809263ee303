"""Answers that several workers and gateways keep together: sealed, and missed where their store is away."""

from collections.abc import Callable
from functools import partial
from typing import Final

from heterodyne.caching.entry import CachedAnswer, seal, try_open
from heterodyne.domain.errors import HeterodyneError, Overloaded, StoreUnavailable
from heterodyne.gateway.caching.absence import StoreAbsence
from heterodyne.gateway.stored.work import StoredWorks
from heterodyne.ports.answer_store import AnswerStore
from heterodyne.telemetry import log, metrics
from heterodyne.wire.responder import Responder

LOOK_UP_S: Final = 0.5  # at most; the store has a deadline of its own

_log = log.get("gateway")


class SharedAnswers:
    """One per worker, where there is a store."""

    def __init__(self, store: AnswerStore, secret: bytes, works: StoredWorks, clock: Callable[[], float]) -> None:
        self._store = store
        self._secret = secret
        self._works = works
        self._absence = StoreAbsence("answers_not_shared", clock)

    def try_begin(
        self,
        key: bytes,
        fence: bytes,
        *,
        found: Callable[[CachedAnswer], None],
        go_on: Callable[[], None],
        refused: Callable[[HeterodyneError], None],
    ) -> Responder | None:
        """Look it up; the request goes on when that is done. None: the store is away."""
        if self._absence.is_now:
            return None

        def looked_up(stored: bytes | None) -> None:
            answer = None if stored is None else try_open(stored, self._secret, key=key, fence=fence)
            if answer is not None:
                found(answer)
            elif stored is not None:
                metrics.cache_entries_refused.add(())
                _log.warning("kept_answer_refused", reason="its seal is not ours")
            go_on()

        try:
            return self._works.start(partial(self._try_get, key), looked_up, refused, LOOK_UP_S)
        except Overloaded:
            return None

    def keep(self, answer: CachedAnswer, ttl_s: float) -> None:
        """Nobody waits for it."""
        if not self._absence.is_now:
            try:
                self._works.start(partial(self._put, answer, ttl_s), _nothing, _nothing, LOOK_UP_S)
            except Overloaded:
                return  # whoever asks next asks a replica

    async def close(self) -> None:
        """Nothing is looked up any more."""
        await self._store.close()

    async def _try_get(self, key: bytes) -> bytes | None:
        try:
            stored = await self._store.try_get(key)
        except StoreUnavailable as error:
            self._absence.failed(error)
            return None
        self._absence.worked()
        return stored

    async def _put(self, answer: CachedAnswer, ttl_s: float) -> None:
        try:
            await self._store.put(answer.key, seal(answer, self._secret), ttl_s)
        except StoreUnavailable as error:
            self._absence.failed(error)
        else:
            self._absence.worked()


def _nothing(_: object) -> None:
    """Whatever came of it, somebody has been told."""
