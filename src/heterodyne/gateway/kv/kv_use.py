"""What one attempt has to do with KV: the slot it works in, what is brought there before, and what came of that.

use.prepare(call, then)      `then` gets the call to send: at once, or when the KV has come or will not
use.sent(now_s)              the engine has been asked
use.try_begin(now_s)         its answer begins; False: what it is made of cannot be trusted
use.give_up(outcome)         the call without the KV, for the same replica
use.end(is_answered=…)
"""

from asyncio import Task
from collections.abc import Callable
from math import inf
from typing import Final, Protocol, final

from heterodyne.domain.kv_origin import KvLoss
from heterodyne.gateway.fleet_view import ReplicaWire
from heterodyne.gateway.kv.brought import Brought
from heterodyne.gateway.kv.kv_failure import KvFailure, KvOutcome
from heterodyne.gateway.kv.slot_book import NOTHING, SlotBook
from heterodyne.ports.engine_request import EngineRequest
from heterodyne.ports.kv_transfer import FileTransfer
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_choice import KvPlan
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.routing.ticket import Ticket

Then = Callable[[EngineRequest], None]


LOSSES: Final = {  # with all others its link, or one of its ends, is to blame
    KvOutcome.MISSING: KvLoss.MISSING,
    KvOutcome.STALE: KvLoss.MISSING,
    KvOutcome.CROWDED: KvLoss.CROWDED,
}
NOT_COMPUTED: Final = KvLoss.NOT_COMPUTED
UNREAD: Final = (KvOutcome.REFUSED, KvOutcome.UNREACHABLE)  # by the engine that was told of it


class Bringer(Protocol):
    """Does what has to be waited for."""

    def begin(self, use: "KvUse") -> None:
        """Bring what the use's plan says; `use.came` or `use.missed` is called once, unless it ends before."""
        ...

    def answered(self, use: "KvUse", book: SlotBook, slot: int) -> None:
        """The slot holds the prompt of the use from now on."""
        ...

    def abandoned(self, use: "KvUse", brought: Brought, *, was_told: bool) -> None:
        """What was handed over will not be read: the engine that it was meant for `was_told` of it, or never was."""
        ...

    def settled(self, use: "KvUse", outcome: KvOutcome) -> None:
        """What came of it is known, once."""
        ...


@final
class KvUse:
    """One per attempt on a replica whose engine exchanges KV."""

    __slots__ = (
        "_answer_s",
        "_book",
        "_bringer",
        "_brought",
        "_call",
        "_is_over",
        "_loss",
        "_slots",
        "_then",
        "_ticket",
        "_was_told",
        "asked_at_s",
        "bound_s",
        "late_at_s",
        "on_lost",
        "outcome",
        "plan",
        "request",
        "request_id",
        "slot",
        "task",
        "took_s",
        "wire",
    )

    def __init__(
        self,
        bringer: Bringer,
        wire: ReplicaWire,
        plan: KvPlan | None,
        request: RoutingRequest,
        request_id: str,
        *,
        book: SlotBook | None,
        slots: FileTransfer | None,
        ticket: Ticket | None,
        bound_s: float,
        answer_s: float,
        now_s: float,
    ) -> None:
        self._bringer = bringer
        self.wire = wire
        self.plan = plan  # None: nothing is brought
        self.request = request
        self.request_id = request_id
        self._book = book
        self._slots = slots  # None: the engine has no slots
        self._ticket = ticket
        self.bound_s = bound_s  # what bringing it may take
        self._answer_s = answer_s  # the longest that the rest of an answer takes which comes whole; 0 of a stream
        self.asked_at_s = now_s
        self.took_s = 0.0  # what bringing it has taken, before its engine was asked
        self.late_at_s = inf  # when an answer that has not begun has waited too long for KV
        self.on_lost: Callable[[], object] | None = None  # called when the other side fails after the engine was asked
        self.outcome: KvOutcome | None = None  # None: nothing was to be brought, or it is not known yet
        self.task: Task[None] | None = None  # that brings it
        self.slot: int | None = None
        self._call: EngineRequest | None = None  # without KV
        self._brought: Brought | None = None
        self._then: Then | None = None
        self._is_over = False
        self._was_told = False  # whether the engine has been sent what names the KV
        self._loss: KvLoss | None = None  # None: what the outcome says
        if book is not None and request.sequences == 1:
            self.slot = book.try_take(request.chain.hashes)
        if book is not None and self.slot is None:
            book.begin_untracked()

    @property
    def call(self) -> EngineRequest:
        """The request as it is without KV."""
        assert self._call is not None
        return self._call

    @property
    def byte_count(self) -> int:
        """That were moved, as far as anybody says; 0 where nothing was."""
        if self.outcome is not KvOutcome.ARRIVED or self.plan is None:
            return 0
        said = 0 if self._brought is None else self._brought.byte_count
        return said or int(self.plan.byte_count)

    @property
    def tokens(self) -> int:
        """Of the prompt, that were not computed by the replica that answers; 0 where nothing came."""
        if self.outcome is not KvOutcome.ARRIVED or self.plan is None:
            return 0
        said = 0 if self._brought is None else self._brought.tokens
        return said or int(self.plan.tokens)

    @property
    def prefilled_by(self) -> ReplicaState | None:
        """The replica that computed the prompt for this one; None: none did, or it was for nothing."""
        plan = self.plan
        return plan.source if plan is not None and plan.prefill is not None and self.tokens else None

    def prepare(self, call: EngineRequest, then: Then) -> None:
        """Call `then` with what is to be sent, once that is known."""
        if self.slot is not None and self._slots is not None:
            call = self._slots.in_slot(call, self.slot)
        self._call = call
        if self.plan is None or self.outcome is not None or self._brought is not None:
            self._brought = None  # another call than the one it was brought for
            then(call)
            return
        self._then = then
        self._bringer.begin(self)

    def came(self, brought: Brought, now_s: float) -> None:
        """It is there, or the engine knows where to fetch it."""
        self._brought = brought
        self.took_s = now_s - self.asked_at_s
        if not brought.is_fetched_later:
            self._settle(KvOutcome.ARRIVED, now_s)
        elif self._ticket is not None and brought.other_side is None:
            self._ticket.kv_prefilled(now_s)
        then, self._then = self._then, None
        if self._is_over:
            self._abandon()
        elif then is not None:
            then(brought.call)

    def missed(self, failure: KvFailure, now_s: float) -> None:
        """It will not come; while the engine is not asked yet, that is all."""
        if self._is_over or self.outcome is not None:
            return
        if failure.shown is not None:
            self._loss = NOT_COMPUTED
        then, self._then = self._then, None
        if then is None:
            if self.on_lost is not None:
                self.on_lost()
            return
        self.took_s = now_s - self.asked_at_s
        self._settle(failure.outcome, now_s)
        then(self.call)

    def sent(self, now_s: float) -> None:
        """From here on the engine fetches what it was told of."""
        if self.is_pending:
            assert self._brought is not None
            self._was_told = True
            # Of an answer that comes whole nothing is seen before its end: it has the time that it should take, too.
            self.late_at_s = min(now_s + self.bound_s + self._answer_s, self._brought.lease_until_s)

    def try_begin(self, now_s: float) -> bool:
        """Whether an answer that begins now may be believed."""
        self.late_at_s = inf
        if self._brought is None or self.outcome is not None:
            return True
        if now_s > self._brought.lease_until_s:
            return False
        self._settle(KvOutcome.ARRIVED, now_s)
        return True

    @property
    def is_pending(self) -> bool:
        """Whether the engine was told of KV that has not been seen to arrive: then it can be asked without."""
        return self._brought is not None and self.outcome is None and self._brought.call is not self._call

    def give_up(self, outcome: KvOutcome, now_s: float) -> EngineRequest:
        """The call without it."""
        self.late_at_s = inf
        self._stop()
        if outcome in UNREAD:
            self._abandon()
        self._settle(outcome, now_s)
        return self.call

    def end(self, now_s: float, *, is_answered: bool) -> None:
        """The attempt is over; a slot holds its prompt if it was answered, else nobody knows what."""
        if self._is_over:
            return
        self._is_over = True
        self._then = self.on_lost = None
        self._stop()
        if not self._was_told:
            self._abandon()
        if self.plan is not None and self.outcome is None:
            # What engines find by themselves nobody sees come.
            has_come = is_answered and self._brought is not None
            self._settle(KvOutcome.ARRIVED if has_come else KvOutcome.CANCELLED, now_s)
        book = self._book
        if book is None:
            return
        if self.slot is None:
            book.end_untracked()
        else:
            if is_answered:
                book.hold(self.slot, self.request.chain.hashes, self.request.tenant)
            else:
                book.hold(self.slot, NOTHING)
            book.release(self.slot)
            if is_answered:
                self._bringer.answered(self, book, self.slot)

    def _stop(self) -> None:
        if self.task is not None:
            self.task.cancel()
        if self._brought is not None and self._brought.other_side is not None:
            self._brought.other_side.cancel()

    def _abandon(self) -> None:
        """An engine that was told of KV and is then left alone reads it all the same, or tells the other side that it
        will not; of one that could not, or was never told, nobody does."""
        brought = self._brought
        if brought is not None and brought.is_handed_over and self.outcome is None:
            self._bringer.abandoned(self, brought, was_told=self._was_told)

    def _settle(self, outcome: KvOutcome, now_s: float) -> None:
        if self.outcome is not None:
            return
        self.outcome = outcome
        ticket = self._ticket
        if ticket is not None:
            if outcome is KvOutcome.ARRIVED:
                # What the engine fetches by itself is known by what it reports at its end.
                if self._brought is not None and not self._brought.is_fetched_later:
                    ticket.kv_arrived(now_s, self._brought.byte_count or None)
            elif outcome is not KvOutcome.CANCELLED:
                ticket.kv_failed(now_s, self._loss or LOSSES.get(outcome, KvLoss.BROKEN))
        self._bringer.settled(self, outcome)
