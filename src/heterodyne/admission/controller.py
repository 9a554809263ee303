"""Pure: whether a request starts, waits or is refused, and who starts next when something ends.

    understood -> its part of the limits -> room? -> Start
                        |                    |
                  Wait for leases      Wait in the model's fair queue -> Start, or Refuse when it is too late

What cannot be in time is refused before it waits, and as the queue fills, tiers give way one after another. The
gateway drives it with connections and the wall clock, the simulator with its own clock.
"""

from collections.abc import Callable, Iterator
from math import inf
from typing import Final

from heterodyne.admission.concurrency_limit import ConcurrencyLimit
from heterodyne.admission.hold import Hold
from heterodyne.admission.limits.book import LimitBook
from heterodyne.admission.limits.refusal import LimitRefusal
from heterodyne.admission.limits.reservation import PendingReservation, Reservation
from heterodyne.admission.model_queues import ModelQueues, pending_of
from heterodyne.admission.pending_request import PendingRequest
from heterodyne.admission.queue.fair_queue import FairQueue
from heterodyne.admission.queue.waiting import StartVerdict, Waiting
from heterodyne.admission.settings import AdmissionSettings
from heterodyne.admission.waking import check_awake_in_time, try_wake
from heterodyne.domain.errors import (
    DeadlineExceeded,
    Draining,
    EnginesFull,
    EngineUnavailable,
    HeterodyneError,
    NoSpareCapacity,
    NotInTime,
    QueueFull,
    Shed,
    UnknownModel,
)
from heterodyne.domain.fleet import FleetSnapshot
from heterodyne.domain.request import Request
from heterodyne.domain.urgency import Urgency
from heterodyne.routing.fallback import FallbackRouter
from heterodyne.routing.forecast import BROKEN, RISK_KEPT, own_risk
from heterodyne.routing.router import Router
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest

INTERACTIVE: Final = Urgency.INTERACTIVE
LeaseAnswer = Reservation | LimitRefusal | HeterodyneError


class Start:
    """Send it to the replica of this choice now."""

    __slots__ = ("choice", "pending", "was_queued")

    def __init__(
        self, choice: RoutingChoice, pending: PendingRequest | None = None, *, was_queued: bool = False
    ) -> None:
        self.choice = choice
        self.pending = pending  # None: it started as it came, and never was pending
        self.was_queued = was_queued


class Wait:
    """For leases of its limits, or for its turn, which `finished` may find to have come already."""

    __slots__ = ("pending", "reservation")

    def __init__(self, pending: PendingRequest, reservation: PendingReservation | None = None) -> None:
        self.pending = pending
        self.reservation = reservation  # to be leased; None: it waits for its turn


class Refuse:
    """Answer it with this error; it holds nothing any more."""

    __slots__ = ("error", "pending", "was_queued")

    def __init__(self, error: HeterodyneError, pending: PendingRequest | None, *, was_queued: bool = False) -> None:
        self.error = error
        self.pending = pending  # None: no replica could ever take it
        self.was_queued = was_queued


class AdmissionController:
    """One per worker or simulation."""

    def __init__(
        self,
        selector: FallbackRouter,
        router: Router,
        limit: ConcurrencyLimit,
        book: LimitBook,
        settings: AdmissionSettings,
        *,
        chance: Callable[[], float],
    ) -> None:
        self._selector = selector
        self._limit = limit
        self._book = book
        self._settings = settings
        self._leasing: set[PendingRequest] = set()
        self._is_starting = False
        self.queues = ModelQueues(router, settings, chance=chance)

    def admit(
        self, request: Request, routing_request: RoutingRequest, hold: Hold, now_s: float, wall_s: float
    ) -> Start | Wait | Refuse:
        """A request has come; `wall_s` is what windows of limits go by."""
        try:
            choice = self._try_decide(request, routing_request, now_s)
        except HeterodyneError as error:
            return Refuse(error, None)
        try:
            found = self._reserve(routing_request, choice, hold, wall_s) if hold.caller.levels else None
            if (
                found is None
                and choice is not None
                and routing_request.model not in self.queues
                and self._has_room(routing_request, choice)
            ):
                return Start(choice)
            pending = PendingRequest(request, routing_request, hold, arrived_s=now_s, choice=choice)
            if isinstance(found, PendingReservation):
                self._leasing.add(pending)
                return Wait(pending, found)
            return self._place(pending, now_s) if found is None else self._refuse_by_limit(pending, found)
        except BaseException:
            hold.cancel()
            raise

    def leased(self, pending: PendingRequest, answer: LeaseAnswer, now_s: float) -> Start | Wait | Refuse:
        """Its leases have come, or will not; what was decided when it came is old by now."""
        self._leasing.discard(pending)
        if isinstance(answer, HeterodyneError):
            return self.refuse(pending, answer)
        if isinstance(answer, LimitRefusal):
            return self._refuse_by_limit(pending, answer)
        pending.hold.reserved(self._book, answer)
        try:
            pending.choice = self._try_decide(pending.request, pending.routing_request, now_s)
        except HeterodyneError as error:
            return self.refuse(pending, error)
        return self._place(pending, now_s)

    def finished(self, model: str, now_s: float) -> Iterator[Start]:
        """There may be room for the model: who starts, one after the other, each before the next is looked for."""
        queue = self.queues.try_queue(model)
        if queue is None or not len(queue) or self._is_starting:
            return
        self._is_starting = True
        try:
            while (waiting := queue.try_take(lambda one: self._can_start(one, now_s), now_s)) is not None:
                pending = pending_of(waiting)
                pending.hold.runs(queue, waiting, pace=self.queues.pace(pending, self._selector.snapshot, now_s))
                pending.waiting = None
                yield self._start(pending, now_s, was_queued=True)
        finally:
            self._is_starting = False

    def tick(self, now_s: float) -> Iterator[Start | Refuse]:
        """Refuse those that have waited too long; start those for whom there is room."""
        for model, queue in self.queues:
            for waiting in queue.expire(now_s):
                yield self.refuse(pending_of(waiting), _too_late(pending_of(waiting), now_s))
            if len(queue) and model not in self._selector.snapshot.by_model:
                yield from self._end_queue(queue, now_s)
            yield from self.finished(model, now_s)

    def refuse(self, pending: PendingRequest, error: HeterodyneError) -> Refuse:
        """It will not start; what it held is given back."""
        return Refuse(error, pending, was_queued=self.abandon(pending))

    def abandon(self, pending: PendingRequest) -> bool:
        """Its client has left, or it is refused; whether it waited in a queue."""
        self._leasing.discard(pending)
        waiting, pending.waiting = pending.waiting, None
        if waiting is not None:
            queue = self.queues.try_queue(pending.routing_request.model)
            assert queue is not None
            queue.remove(waiting)
        pending.hold.cancel()
        return waiting is not None

    def close(self) -> list[Refuse]:
        """None that waits will start any more."""
        error = "The gateway shut down before the request's turn came."
        return [self.refuse(pending, Draining(error)) for pending in [*self._leasing, *self.queues.pending()]]

    def configure(self, settings: AdmissionSettings) -> None:
        """Other bounds from the next request on."""
        self._settings = settings
        self.queues.configure(settings)

    @property
    def waiting(self) -> int:
        """Requests that have not started, for leases or for their turn."""
        return len(self._leasing) + len(self.queues)

    def _try_decide(self, request: Request, routing_request: RoutingRequest, now_s: float) -> RoutingChoice | None:
        """Where it would go now; None: the replicas that could take it are full or asleep, which waiting helps."""
        try:
            return self._selector.decide(request, routing_request, now_s)
        except (NoSpareCapacity, EnginesFull):
            if not self._settings.queue_max:
                raise
            return None
        except EngineUnavailable:
            if not self._settings.queue_max or try_wake(self._fleet, routing_request.model) is None:
                raise
            return None

    def _reserve(
        self, routing_request: RoutingRequest, choice: RoutingChoice | None, hold: Hold, wall_s: float
    ) -> PendingReservation | LimitRefusal | None:
        """Set aside its part of the limits; what must be leased first, or which limit is reached, is returned."""
        usd = 0.0 if choice is None or choice.forecast.usd == inf else choice.forecast.usd
        tokens = routing_request.prompt_tokens + round(routing_request.output_tokens)
        found = self._book.reserve(hold.caller.levels, tokens, round(usd * 1e6), wall_s)
        if isinstance(found, Reservation):
            hold.reserved(self._book, found)
            return None
        return found

    def _refuse_by_limit(self, pending: PendingRequest, refused: LimitRefusal) -> Refuse:
        pending.refused = refused
        return self.refuse(pending, refused.as_error())

    def _place(self, pending: PendingRequest, now_s: float) -> Start | Wait | Refuse:
        """Start it where there is room and none waits, else have it wait, or refuse it where it may not."""
        queue, choice = self.queues.try_queue(pending.routing_request.model), pending.choice
        is_first = queue is None or queue.comes_first(pending.routing_request.urgency)
        if choice is not None and is_first and self._has_room(pending.routing_request, choice):
            if queue is not None:
                waiting = self.queues.waiting_of(pending, choice.forecast)
                queue.start(waiting)
                pending.hold.runs(queue, waiting)
            return self._start(pending, now_s)
        if not self._settings.queue_max:
            return self._start(pending, now_s)  # engines have queues of their own
        try:
            return self._wait(pending, queue or self.queues.queue(pending.routing_request.model, self._fleet), now_s)
        except HeterodyneError as error:
            return self.refuse(pending, error)

    def _wait(self, pending: PendingRequest, queue: FairQueue, now_s: float) -> Start | Wait:
        wake = try_wake(self._fleet, pending.routing_request.model) if pending.choice is None else None
        pending.is_held = wake is not None
        forecast = self.queues.try_forecast(pending.routing_request, self._fleet, now_s)
        waiting = self.queues.waiting_of(pending, forecast)
        try:
            if wake is not None:
                check_awake_in_time(wake, pending.request.deadline_s, now_s)
            else:
                self.queues.check(pending, forecast, queue, waiting, now_s)
            queue.push(waiting, now_s)
        except (Shed, NotInTime, QueueFull):
            if self._try_degrade(pending, now_s):
                return self._start(pending, now_s)
            raise
        pending.waiting = waiting
        return Wait(pending)

    @property
    def _fleet(self) -> FleetSnapshot:
        return self._selector.snapshot

    def _try_degrade(self, pending: PendingRequest, now_s: float) -> bool:
        """Whether a smaller model that stands in for the tier has room."""
        routing_request = pending.routing_request
        rule = self._fleet.rules.get(routing_request.model)
        other = None if rule is None else rule.degraded.get(pending.hold.caller.tier)
        if other is None:
            return False
        choice = self._selector.try_other(pending.request, routing_request, other, now_s)
        if choice is None or not self._has_room(routing_request, choice):
            return False
        pending.choice = choice
        return True

    def _can_start(self, waiting: Waiting, now_s: float) -> StartVerdict:
        pending = pending_of(waiting)
        routing_request = pending.routing_request
        if routing_request.ttft_slo_s < inf and not pending.is_held:
            left_s = routing_request.ttft_slo_s - (now_s - pending.arrived_s)
            routing_request = routing_request.copied()
            routing_request.ttft_slo_s = max(left_s, 1e-3)
        # What may be answered in some regions alone is not to keep others from replicas elsewhere.
        full = StartVerdict.NONE if routing_request.regions is None else StartVerdict.NOT_FOR_IT
        try:
            choice = self._selector.decide(pending.request, routing_request, now_s)
        except HeterodyneError:
            return full  # replicas that are down may be back before the deadline
        if not self._has_room(routing_request, choice):
            return full
        pending.choice = choice
        return StartVerdict.YES

    def _has_room(self, routing_request: RoutingRequest, choice: RoutingChoice) -> bool:
        """Whether a replica may start on it now.

        One more than it holds would only wait there, where nothing is fair; one more than keeps the SLO breaks it for
        others too. An SLO that even an idle replica breaks is no reason to wait; nor is a replica that batch work has
        crowded, which makes room as it ends, while the request's own SLO is as good as kept there.
        """
        if routing_request.urgency is not INTERACTIVE and not self._limit.has_patient_room:
            return False
        forecast = choice.forecast
        state, load = forecast.state, forecast.load
        held = self._limit.by_replica.get(state.replica_id, 0)
        if held > state.in_flight:  # of very many requests the router counts a part
            load *= (held + 1) / (state.in_flight + 1)
        if load > 1.0:
            return False
        if choice.slo_outlook != BROKEN or not routing_request.has_slo or state.in_flight == 0:
            return True
        return state.patient > 0 and own_risk(routing_request, forecast) < RISK_KEPT

    def _start(self, pending: PendingRequest, now_s: float, *, was_queued: bool = False) -> Start:
        assert pending.choice is not None
        pending.hold.queued_s += now_s - pending.arrived_s
        return Start(pending.choice, pending, was_queued=was_queued)

    def _end_queue(self, queue: FairQueue, now_s: float) -> Iterator[Refuse]:
        """The model has left the fleet: those that wait for it get the answer of those that come."""
        for waiting in queue.all_waiting():
            pending = pending_of(waiting)
            try:
                self._selector.decide(pending.request, pending.routing_request, now_s)
            except UnknownModel as error:
                yield self.refuse(pending, error)
            except HeterodyneError:
                continue  # its turn may come


def _too_late(pending: PendingRequest, now_s: float) -> HeterodyneError:
    """What it waits for takes some time too, so a deadline is missed before it has passed."""
    waited = f"after {now_s - pending.arrived_s:.1f} s in the queue"
    if pending.request.deadline_s <= pending.arrived_s + pending.routing_request.ttft_slo_s:
        return DeadlineExceeded(f"{waited.capitalize()} the deadline could no longer be kept.")
    return NotInTime(f"{waited.capitalize()} the first token could not come within what was promised.", retry_after_s=1)
