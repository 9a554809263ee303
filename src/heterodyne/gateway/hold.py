"""What one request holds from its admission to its end: a part of its limits, of the queue's fairness, of the books."""

from heterodyne.admission.limits.book import LimitBook, Reservation
from heterodyne.admission.limits.headers import rate_headers
from heterodyne.admission.queue.fair_queue import FairQueue
from heterodyne.admission.queue.waiting import Waiting
from heterodyne.books.flight_slots import FlightSlot
from heterodyne.domain.fleet import ReplicaId
from heterodyne.domain.tenant import Caller
from heterodyne.telemetry.tracing.context import Trace


class Hold:
    """Ends exactly once, with what the request used."""

    __slots__ = (
        "_book",
        "_pace",
        "_queue",
        "_reservation",
        "_waiting",
        "arrived_s",
        "caller",
        "placed_on",
        "queued_s",
        "slot",
        "trace",
    )

    def __init__(self, caller: Caller, arrived_s: float, trace: Trace | None = None) -> None:
        self.caller = caller
        self.arrived_s = arrived_s  # when the request was complete
        self.trace = trace  # None: nobody is traced
        self.queued_s = 0.0
        self.slot: FlightSlot | None = None  # in the black box; None: nobody keeps books
        self.placed_on: ReplicaId | None = None  # the replica that the slot names
        self._book: LimitBook | None = None
        self._reservation: Reservation | None = None  # None: nothing limits the caller, or it has been settled
        self._queue: FairQueue | None = None
        self._pace = 1.0
        self._waiting: Waiting | None = None

    @property
    def is_counted(self) -> bool:
        """Whether anybody wants to know at its end what it used."""
        return self._reservation is not None or self._waiting is not None

    def reserved(self, book: LimitBook, reservation: Reservation) -> None:
        """Its part of the limits is set aside."""
        self._book, self._reservation = book, reservation

    def runs(self, queue: FairQueue, waiting: Waiting, pace: float = 1.0) -> None:
        """The queue counts it among those that run; `pace` makes of a second there what the queue counts in."""
        self._queue, self._waiting, self._pace = queue, waiting, pace

    def rate_headers(self, now_wall_s: float) -> bytes:
        """How much is left of its limits."""
        return b"" if self._reservation is None else rate_headers(self._reservation.leased_counters, now_wall_s)

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
