"""Carries the calls of a worker's limit book to the source of leases and answers the requests that wait for them.

One call is under way at a time; requests that come meanwhile share the next. While the source is away nobody waits for
it: the operator's choice decides, and the call without an answer is sent again until it has one.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable

from heterodyne.admission.limits.book import LimitBook
from heterodyne.admission.limits.refusal import LimitRefusal
from heterodyne.admission.limits.reservation import PendingReservation, Reservation
from heterodyne.admission.limits.when_unreachable import WhenUnreachable
from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import Draining, HeterodyneError, StoreUnavailable
from heterodyne.domain.tenant import Level
from heterodyne.ports.leases import LeaseCall, LeaseSource
from heterodyne.telemetry import log

TICK_S = 0.5
HEARTBEAT_S = 1.0  # well below what a silent holder lives
BATCH_MAX = 64  # requests in one call
WAITING_MAX = 10_000
TRIES_MAX = 5  # for a request that others were quicker than each time
RETRY_S_MIN = 0.05
RETRY_S_MAX = 0.25

LeaseOutcome = Reservation | LimitRefusal | HeterodyneError
OnLease = Callable[[LeaseOutcome], None]

_log = log.get("gateway")


class LeaseWaiter:
    """A request that waits for a lease."""

    __slots__ = ("is_cancelled", "pending_reservation", "then", "tries")

    def __init__(self, pending_reservation: PendingReservation, then: OnLease) -> None:
        self.pending_reservation = pending_reservation
        self.then = then
        self.tries = 0
        self.is_cancelled = False

    def cancel(self) -> None:
        """Nobody wants to know any longer; whatever is reserved is released."""
        self.is_cancelled = True


class LeaseClient:
    """Owned by one worker; `run` is a task of it, `close` the last word."""

    def __init__(
        self,
        book: LimitBook,
        source: LeaseSource,
        *,
        when_unreachable: WhenUnreachable,
        tick_s: float = TICK_S,
        clock: Callable[[], float] = time.time,  # windows are those of the wall clock
    ) -> None:
        self.book = book
        self._source = source
        self._when_unreachable = when_unreachable
        self._tick_s = tick_s
        self._clock = clock
        self._waiting: deque[LeaseWaiter] = deque()
        self._batch: list[LeaseWaiter] = []  # those whose call is under way
        self._work = asyncio.Event()
        self._unanswered: LeaseCall | None = None
        self._heard_s = clock()
        self.away: StoreUnavailable | None = None  # why the source does not answer; None: it does
        self.alone_total = 0  # requests let in without it

    def try_reserve(
        self, levels: tuple[Level, ...], tokens: int, micro_usd: int
    ) -> Reservation | LimitRefusal | PendingReservation:
        """At once, from the leases at hand. What is wanting has to `wait`."""
        return self.book.reserve(levels, tokens, micro_usd, self._clock())

    def wait(self, pending_reservation: PendingReservation, then: OnLease) -> LeaseWaiter:
        """Ask the source; `then` hears the place or the reason, perhaps before this returns."""
        waiter = LeaseWaiter(pending_reservation, then)
        if self.away is not None:
            self._answer_alone(waiter)
        elif len(self._waiting) >= WAITING_MAX:
            then(StoreUnavailable("Too many requests wait for the counters of limits. Try again.", retry_after_s=1))
        else:
            self._waiting.append(waiter)
            self._work.set()
        return waiter

    async def reserve(self, levels: tuple[Level, ...], tokens: int, micro_usd: int) -> Reservation:
        """Both steps; raises `LimitReached` or `StoreUnavailable`."""
        found = self.try_reserve(levels, tokens, micro_usd)
        if isinstance(found, Reservation):
            return found
        if isinstance(found, LimitRefusal):
            raise found.as_error()
        future: asyncio.Future[LeaseOutcome] = asyncio.get_running_loop().create_future()

        def then(answer: LeaseOutcome) -> None:
            if not future.done():
                future.set_result(answer)
            elif isinstance(answer, Reservation):
                self.book.release(answer)

        waiter = self.wait(found, then)
        try:
            answer = await future
        except asyncio.CancelledError:
            waiter.cancel()
            if not future.cancelled() and isinstance(reserved := future.result(), Reservation):
                self.book.release(reserved)
            raise
        if isinstance(answer, Reservation):
            return answer
        raise answer.as_error() if isinstance(answer, LimitRefusal) else answer

    async def run(self) -> None:
        """Until cancelled."""
        retry_s = RETRY_S_MIN
        while True:
            if self.away is not None:
                await asyncio.sleep(retry_s)
                retry_s = min(RETRY_S_MAX, 2 * retry_s)
            else:
                retry_s = RETRY_S_MIN
                await self._until_work()
            call = self._unanswered or self._compose()
            if call is not None:
                await self._carry(call)

    async def close(self) -> None:
        """Give everything back; `run` has been cancelled."""
        self.book.failed([waiter.pending_reservation for waiter in self._batch])
        for waiter in (*self._batch, *self._waiting):
            if not waiter.is_cancelled:
                waiter.then(Draining("This gateway is shutting down."))
        self._batch, self._waiting = [], deque()
        try:
            if self._unanswered is not None:
                await self._carry(self._unanswered)
            if self._unanswered is None:
                retired = self.book.retire()
                await self._source.exchange(retired)
                await self._source.leave(retired.holder)
        except StoreUnavailable as error:
            _log.warning("leases_not_returned", error=error.message)
        await self._source.close()

    async def _until_work(self) -> None:
        if self._waiting:
            return
        self._work.clear()
        try:
            async with deadline(self._tick_s):
                await self._work.wait()
        except TimeoutError:
            return

    def _compose(self) -> LeaseCall | None:
        now_s = self._clock()
        self._batch = [self._waiting.popleft() for _ in range(min(BATCH_MAX, len(self._waiting)))]
        call = self.book.compose([waiter.pending_reservation for waiter in self._batch], now_s)
        if call is None and self._batch:  # what they lacked has come back meanwhile
            call = self.book.heartbeat()
        if call is None and not 0 <= now_s - self._heard_s < HEARTBEAT_S:  # below zero: the clock was set back
            call = self.book.heartbeat()
        return call

    async def _carry(self, call: LeaseCall) -> None:
        self._unanswered = call
        try:
            answer = await self._source.exchange(call)
        except StoreUnavailable as error:
            self._lose(error)
            return
        if self.away is not None:
            _log.info("leases_back")
        self._unanswered = self.away = None
        self._heard_s = now_s = self._clock()
        batch, self._batch = self._batch, []
        results = self.book.answered(call, answer, [waiter.pending_reservation for waiter in batch], now_s)
        for waiter, result in zip(batch, results, strict=True):
            self._answer(waiter, result)

    def _lose(self, error: StoreUnavailable) -> None:
        if self.away is None:
            _log.warning("leases_away", error=error.message, behaviour=self._when_unreachable)
        self.away = error
        batch, self._batch = self._batch, []
        self.book.failed([waiter.pending_reservation for waiter in batch])
        waiting, self._waiting = self._waiting, deque()
        for waiter in (*batch, *waiting):
            self._answer_alone(waiter)

    def _answer(self, waiter: LeaseWaiter, result: Reservation | LimitRefusal | PendingReservation) -> None:
        if waiter.is_cancelled:
            if isinstance(result, Reservation):
                self.book.release(result)
        elif not isinstance(result, PendingReservation):
            waiter.then(result)
        else:
            waiter.tries += 1
            waiter.pending_reservation = result
            if waiter.tries < TRIES_MAX:
                self._waiting.append(waiter)
            else:
                waiter.then(StoreUnavailable("The limits are contended. Try again.", retry_after_s=1))

    def _answer_alone(self, waiter: LeaseWaiter) -> None:
        if waiter.is_cancelled:
            return
        if self._when_unreachable is WhenUnreachable.CLOSED:
            assert self.away is not None
            waiter.then(StoreUnavailable(self.away.message, retry_after_s=1))
            return
        found = self.book.reserve_alone(waiter.pending_reservation, self._clock())
        if isinstance(found, Reservation):
            self.alone_total += 1
        waiter.then(found)
