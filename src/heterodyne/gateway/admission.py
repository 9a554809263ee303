"""Between the door and the replicas: a request starts at once where there is room, else it waits for its turn.

    understood -> its part of the limits -> room? -> started
                        |                    |
                  waits for leases     waits in the model's fair queue -> started, too late, or its client has left

What cannot be in time is refused before it waits, and as the queue fills, tiers give way one after another.
"""

from collections.abc import Callable
from functools import partial
from math import inf

from msgspec import structs

from heterodyne.admission.limits.book import Reservation
from heterodyne.admission.limits.headers import rate_headers
from heterodyne.admission.limits.refusal import LimitRefusal
from heterodyne.admission.queue.fair_queue import FairQueue
from heterodyne.admission.queue.snapshot import QueueSnapshot
from heterodyne.admission.queue.waiting import StartVerdict, Waiting
from heterodyne.admission.settings import AdmissionSettings
from heterodyne.domain.errors import (
    ClientGone,
    DeadlineExceeded,
    Draining,
    EnginesFull,
    HeterodyneError,
    InternalError,
    NoSpareCapacity,
    NotInTime,
    QueueFull,
    Shed,
    UnknownModel,
)
from heterodyne.domain.request import Request
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.backstage import Backstage
from heterodyne.gateway.exchange import Exchange
from heterodyne.gateway.hold import Hold
from heterodyne.gateway.lease_client import LeaseClient, LeaseOutcome
from heterodyne.gateway.model_queues import ModelQueues
from heterodyne.gateway.pending_request import PendingRequest
from heterodyne.gateway.refusal import answer_error, refused_record
from heterodyne.routing.forecast import BROKEN, RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.telemetry import log
from heterodyne.telemetry.tracing.context import Trace
from heterodyne.wire.server_connection import Responder, ServerConnection

_log = log.get("gateway")


class AdmissionController:
    """One per worker."""

    def __init__(
        self,
        back: Backstage,
        lease_client: LeaseClient,
        settings: AdmissionSettings,
        *,
        chance: Callable[[], float],
    ) -> None:
        self._back = back
        self._lease_client = lease_client
        self._settings = settings
        self._queues = ModelQueues(back, settings, chance=chance)
        self._leasing: set[PendingRequest] = set()
        self._is_pumping = False
        back.on_leave = self.pump

    def receive(
        self,
        connection: ServerConnection,
        request: Request,
        routing_request: RoutingRequest,
        caller: Caller,
        *,
        is_plain: bool,
        arrived_s: float,
        trace: Trace | None = None,
    ) -> Responder:
        """Who answers from here, unless that has been done; raises where nobody could ever."""
        choice = self._try_decide(request, routing_request)
        hold = Hold(caller, arrived_s, trace)
        if (
            choice is not None
            and not caller.levels
            and routing_request.model not in self._queues
            and self._has_room(routing_request, choice)
        ):
            exchange = Exchange(self._back, connection, request, routing_request, hold, is_plain=is_plain)
            exchange.start(choice)
            return exchange
        pending = PendingRequest(
            self,
            connection,
            request,
            routing_request,
            hold,
            is_plain=is_plain,
            arrived_s=self._back.clock(),
        )
        pending.choice = choice
        try:
            if caller.levels and not self._reserve(pending):
                return pending
            self._place(pending)
        except HeterodyneError as error:
            self._refuse(pending, error)
        except BaseException:
            hold.cancel()
            raise
        finally:
            pending.is_arriving = False
        return pending.responder or pending

    def pump(self, model: str) -> None:
        """There may be room: let those start whose turn it is."""
        queue = self._queues.try_queue(model)
        if queue is None or not len(queue) or self._is_pumping:
            return
        self._is_pumping = True
        try:
            while (waiting := queue.try_take(self._can_start, self._back.clock())) is not None:
                pending = waiting.handle
                assert isinstance(pending, PendingRequest)
                pending.hold.runs(queue, waiting, pace=self._queues.pace(pending))
                pending.waiting = None
                self._queues.meter(pending)
                self._begin(pending)
        finally:
            self._is_pumping = False

    def tick(self) -> None:
        """Refuse those that have waited too long; ask again for the others."""
        now_s = self._back.clock()
        for model, queue in self._queues:
            for waiting in queue.expire(now_s):
                pending = waiting.handle
                assert isinstance(pending, PendingRequest)
                self._refuse(pending, _too_late(pending, now_s))
            if len(queue) and model not in self._back.fleet.snapshot.by_model:
                self._end_queue(queue)
            self.pump(model)

    def abandon(self, pending: PendingRequest) -> None:
        """Its client has left."""
        self._forget(pending)
        self._write_down(pending, ClientGone("The client left before its turn came."))

    def close(self) -> None:
        """Nobody starts any more."""
        for pending in [*self._leasing, *self._queues.pending_requests()]:
            self._refuse(pending, Draining("The gateway shut down before the request's turn came."))

    def configure(self, settings: AdmissionSettings) -> None:
        """Other bounds from the next request on."""
        self._settings = settings
        self._queues.configure(settings)

    @property
    def waiting(self) -> int:
        """Requests that have not started, for whatever reason."""
        return len(self._leasing) + len(self._queues)

    def queue_snapshots(self) -> list[QueueSnapshot]:
        """Every model's queue."""
        now_s = self._back.clock()
        return [queue.snapshot(now_s) for _, queue in self._queues]

    def waiting_by_project(self, most: int) -> dict[str, int]:
        """How many of each project wait for their turn, of the projects with the most."""
        return self._queues.waiting_by_project(most)

    def note_gauges(self) -> None:
        """How many wait, by model and class."""
        self._queues.note_gauges()

    def _end_queue(self, queue: FairQueue) -> None:
        """The model has left the fleet: whoever waits for it is told what whoever comes is told."""
        for waiting in queue.all_waiting():
            pending = waiting.handle
            assert isinstance(pending, PendingRequest)
            try:
                self._back.decider.decide(pending.request, pending.routing_request)
            except UnknownModel as error:
                self._refuse(pending, error)
            except HeterodyneError:
                continue  # its turn may come

    def _try_decide(self, request: Request, routing_request: RoutingRequest) -> RoutingChoice | None:
        """Where it would go now; None: whoever could take it is full, which waiting helps against."""
        try:
            return self._back.decider.decide(request, routing_request)
        except (NoSpareCapacity, EnginesFull):
            if not self._settings.queue_max:
                raise
            return None

    def _reserve(self, pending: PendingRequest) -> bool:
        """Whether its part of the limits is set aside; else it is told later. Raises which limit is reached."""
        routing_request, choice = pending.routing_request, pending.choice
        usd = 0.0 if choice is None or choice.forecast.usd == inf else choice.forecast.usd
        levels = pending.hold.caller.levels
        found = self._lease_client.try_reserve(
            levels, routing_request.prompt_tokens + round(routing_request.output_tokens), round(usd * 1e6)
        )
        if isinstance(found, Reservation):
            pending.hold.reserved(self._lease_client.book, found)
            return True
        if isinstance(found, LimitRefusal):
            pending.refused = found
            raise found.as_error()
        self._leasing.add(pending)
        pending.lease = self._lease_client.wait(found, partial(self._leased, pending))
        return pending not in self._leasing

    def _leased(self, pending: PendingRequest, answer: LeaseOutcome) -> None:
        """May be told before its request has returned from the door."""
        self._leasing.discard(pending)
        pending.lease = None
        if isinstance(answer, Reservation):
            pending.hold.reserved(self._lease_client.book, answer)
            if not pending.is_arriving:
                self._place_later(pending)
            return
        if isinstance(answer, LimitRefusal):
            pending.refused, answer = answer, answer.as_error()
        if pending.is_arriving:
            raise answer
        self._refuse(pending, answer)

    def _place_later(self, pending: PendingRequest) -> None:
        """The same as for one that did not wait; what was decided is old by now."""
        try:
            pending.choice = self._try_decide(pending.request, pending.routing_request)
            self._place(pending)
        except HeterodyneError as error:
            self._refuse(pending, error)
        except Exception as error:  # noqa: BLE001  # the root of a turn: our mistake must not cost others theirs
            self._fail(pending, error)

    def _place(self, pending: PendingRequest) -> None:
        """Start it where there is room and nobody waits, else have it wait; raises why it may not."""
        queue = self._queues.try_queue(pending.routing_request.model)
        if (
            pending.choice is not None
            and self._has_room(pending.routing_request, pending.choice)
            and (queue is None or not len(queue))
        ):
            if queue is not None:
                waiting = self._queues.waiting_of(pending, pending.choice.forecast)
                queue.start(waiting)
                pending.hold.runs(queue, waiting)
            self._start(pending)
        elif not self._settings.queue_max:
            assert pending.choice is not None
            self._start(pending)  # engines have queues of their own
        else:
            self._wait(pending, queue or self._queues.queue(pending.routing_request.model))

    def _wait(self, pending: PendingRequest, queue: FairQueue) -> None:
        now_s = self._back.clock()
        forecast = self._queues.try_forecast(pending.routing_request, now_s)
        waiting = self._queues.waiting_of(pending, forecast)
        try:
            self._queues.check(pending, forecast, queue, waiting, now_s)
            queue.push(waiting, now_s)
        except (Shed, NotInTime, QueueFull):
            if self._try_degrade(pending):
                self._start(pending)
                return
            raise
        pending.waiting = waiting
        self.pump(pending.routing_request.model)

    def _try_degrade(self, pending: PendingRequest) -> bool:
        """Whether a smaller model that stands in for the tier has room."""
        rule = self._back.fleet.snapshot.rules.get(pending.routing_request.model)
        other = None if rule is None else rule.degraded.get(pending.hold.caller.tier)
        if other is None:
            return False
        choice = self._back.decider.try_other(pending.request, pending.routing_request, other)
        if choice is None or not self._has_room(pending.routing_request, choice):
            return False
        pending.choice = choice
        return True

    def _can_start(self, waiting: Waiting) -> StartVerdict:
        pending = waiting.handle
        assert isinstance(pending, PendingRequest)
        routing_request = pending.routing_request
        if routing_request.ttft_slo_s < inf:
            left_s = routing_request.ttft_slo_s - (self._back.clock() - pending.arrived_s)
            routing_request = structs.replace(routing_request, ttft_slo_s=max(left_s, 1e-3))
        try:
            choice = self._back.decider.decide(pending.request, routing_request)
        except HeterodyneError:
            return StartVerdict.NONE  # whoever is down may be back before the deadline
        if not self._has_room(routing_request, choice):
            return StartVerdict.NONE
        pending.choice = choice
        return StartVerdict.YES

    def _has_room(self, routing_request: RoutingRequest, choice: RoutingChoice) -> bool:
        """Whether a replica may start on it now.

        One more than it holds would only wait there, where nobody is fair; one more than keeps the promise breaks it
        for others too. A promise that even an idle replica breaks is nobody's fault and no reason to wait.
        """
        forecast = choice.forecast
        state, load = forecast.state, forecast.load
        held = self._back.concurrency_limit.by_replica.get(state.replica.id, 0)
        if held > state.in_flight:  # of very many requests the router counts a part
            load *= (held + 1) / (state.in_flight + 1)
        if load > 1.0:
            return False
        return choice.slo_outlook != BROKEN or not routing_request.has_slo or state.in_flight == 0

    def _begin(self, pending: PendingRequest) -> None:
        """Start one whose turn has come."""
        try:
            self._start(pending)
        except HeterodyneError as error:
            self._refuse(pending, error)
        except Exception as error:  # noqa: BLE001  # the root of a start: our mistake must not cost an answer
            self._fail(pending, error)

    def _fail(self, pending: PendingRequest, error: Exception) -> None:
        _log.error("request_failed", request_id=pending.request.id, exc_info=error)
        self._refuse(pending, InternalError("An internal error; the log has the details."))

    def _start(self, pending: PendingRequest) -> None:
        assert pending.choice is not None
        pending.hold.queued_s = self._back.clock() - pending.arrived_s
        exchange = Exchange(
            self._back,
            pending.connection,
            pending.request,
            pending.routing_request,
            pending.hold,
            is_plain=pending.is_plain,
        )
        pending.responder = exchange
        if not pending.is_arriving:
            pending.connection.hand_over(exchange)
        exchange.start(pending.choice)

    def _refuse(self, pending: PendingRequest, error: HeterodyneError) -> None:
        self._forget(pending)
        back, refused = self._back, pending.refused
        if refused is not None and refused.is_hopeless:
            back.request_builder.doubt(pending.routing_request)
        answer_error(
            error,
            back,
            pending.connection,
            pending.request.id,
            is_plain=pending.is_plain,
            more_headers=b"" if refused is None else rate_headers(refused.leased_counters, back.wall_clock()),
            tier=pending.hold.caller.tier,
        )
        self._write_down(pending, error)

    def _forget(self, pending: PendingRequest) -> None:
        if pending.lease is not None:
            pending.lease.cancel()
            pending.lease = None
        self._leasing.discard(pending)
        waiting, pending.waiting = pending.waiting, None
        if waiting is not None:
            self._queues.queue(pending.routing_request.model).remove(waiting)
            self._queues.meter(pending)
        pending.hold.cancel()

    def _write_down(self, pending: PendingRequest, error: HeterodyneError) -> None:
        back = self._back
        waited_s = back.clock() - pending.arrived_s
        record = refused_record(
            error,
            pending.request.id,
            back.wall_clock() - waited_s,
            len(pending.request.body),
            caller=pending.hold.caller,
            request=pending.request,
            model=back.fleet.snapshot.model_of(pending.request.model),
            urgency=pending.routing_request.urgency,
            queued_s=waited_s,
        )
        hold = pending.hold
        if back.tracer is not None and hold.trace is not None:
            record = back.tracer.refused(
                hold.trace,
                record,
                pending.request,
                arrived_s=hold.arrived_s,
                queued_s=0.0 if pending.is_arriving else waited_s,
            )
        back.refused(record, hold.caller, pending.routing_request.urgency, pending.request.body)


def _too_late(pending: PendingRequest, now_s: float) -> HeterodyneError:
    """What it waits for takes some time too, so a deadline is missed before it has passed."""
    waited = f"after {now_s - pending.arrived_s:.1f} s in the queue"
    if pending.request.deadline_s <= pending.arrived_s + pending.routing_request.ttft_slo_s:
        return DeadlineExceeded(f"{waited.capitalize()} the deadline could no longer be kept.")
    return NotInTime(f"{waited.capitalize()} the first token could not come within what was promised.", retry_after_s=1)
