"""What one request holds from its admission to its end: a part of its limits and of its queue's fairness."""

from collections.abc import Callable
from typing import Final

from heterodyne.admission.limits.book import LimitBook
from heterodyne.admission.limits.headers import rate_headers
from heterodyne.admission.limits.reservation import Reservation
from heterodyne.admission.queue.fair_queue import FairQueue
from heterodyne.admission.queue.waiting import Waiting
from heterodyne.domain.tenant import Caller

QUEUED_MIN_S: Final = 0.001  # that a client is told of


class Hold:
    """Ends exactly once, with what the request used. One per request."""

    __slots__ = ("_book", "_pace", "_queue", "_reservation", "_waiting", "arrived_s", "caller", "queued_s")

    def __init__(self, caller: Caller, arrived_s: float, waited_s: float = 0.0) -> None:
        self.caller = caller
        self.arrived_s = arrived_s  # when the request was complete
        self.queued_s = waited_s  # for its turn, and before that for another's answer or another model's
        self._book: LimitBook | None = None
        self._reservation: Reservation | None = None  # None: nothing limits the caller, or it has been settled
        self._queue: FairQueue | None = None
        self._pace = 1.0
        self._waiting: Waiting | None = None

    @property
    def is_counted(self) -> bool:
        """Whether a limit or a queue is to hear at its end what it used."""
        return self._reservation is not None or self._waiting is not None

    def reserved(self, book: LimitBook, reservation: Reservation) -> None:
        """Its part of the limits is set aside."""
        self._book, self._reservation = book, reservation

    def runs(self, queue: FairQueue, waiting: Waiting, pace: float = 1.0) -> None:
        """The queue counts it among those that run; `pace` makes of a second there what the queue counts in."""
        self._queue, self._waiting, self._pace = queue, waiting, pace

    def headers(self, wall_clock: Callable[[], float]) -> bytes:
        """How much is left of its limits, and how long it has waited for its turn."""
        headers = b""
        if self._reservation is not None:
            headers = rate_headers(self._reservation.leased_counters, wall_clock())
        if self.queued_s >= QUEUED_MIN_S:
            headers += b"x-heterodyne-queue-ms: %d\r\n" % round(1000 * self.queued_s)
        return headers

    def end(self, *, tokens: int, usd: float, share_s: float) -> None:
        """It was answered, in part at least."""
        reservation, self._reservation = self._reservation, None
        if reservation is not None and self._book is not None:
            self._book.settle(reservation, tokens, round(usd * 1e6))
        self._leave_queue(share_s)

    def cancel(self) -> None:
        """It was not answered at all, and so it used nothing."""
        reservation, self._reservation = self._reservation, None
        if reservation is not None and self._book is not None:
            self._book.release(reservation)
        self._leave_queue(0.0)

    def _leave_queue(self, share_s: float) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and self._queue is not None:
            self._queue.end(waiting, share_s * self._pace)
