"""Drives the admission controller with connections: starts exchanges, waits for leases, answers what is refused."""

from collections.abc import Callable
from functools import partial

from heterodyne.admission.controller import AdmissionController, Refuse, Start, Wait
from heterodyne.admission.hold import Hold
from heterodyne.admission.limits.headers import rate_headers
from heterodyne.admission.pending_request import PendingRequest
from heterodyne.domain.errors import ClientGone, HeterodyneError, InternalError
from heterodyne.domain.request import Request
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.client_answer import ClientAnswer
from heterodyne.gateway.exchange import Exchange
from heterodyne.gateway.forms.form import ClientForm
from heterodyne.gateway.in_flight import InFlight
from heterodyne.gateway.lease_client import LeaseClient, LeaseOutcome, LeaseWaiter
from heterodyne.gateway.race import Race
from heterodyne.gateway.refusal import answer_error, refused_record
from heterodyne.gateway.render import IdentityHeaders
from heterodyne.gateway.request_log import RequestLog
from heterodyne.gateway.routing_request_builder import RoutingRequestBuilder
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.gateway.stored.keeper import Keeper
from heterodyne.gateway.tracer import Tracer
from heterodyne.gateway.upstream import Upstream
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.telemetry import log, metrics
from heterodyne.telemetry.tracing.context import Trace
from heterodyne.wire.responder import Responder
from heterodyne.wire.server_connection import ServerConnection

_log = log.get("gateway")


class QueuedRequest:
    """Answers the client's connection while a request is pending. One per request that does not start at once."""

    __slots__ = ("_abandon", "connection", "exchange", "form", "is_arriving", "lease", "pending", "trace")

    def __init__(
        self,
        pending: PendingRequest,
        connection: ServerConnection,
        trace: Trace | None,
        abandon: Callable[["QueuedRequest"], None],
        form: ClientForm,
    ) -> None:
        self.pending = pending
        self.connection = connection
        self.trace = trace
        self._abandon = abandon
        self.form = form
        self.is_arriving = True  # the connection does not know yet who answers
        self.exchange: Exchange | None = None  # once it was started
        self.lease: LeaseWaiter | None = None  # while it waits for leases
        pending.handle = self

    def client_gone(self) -> None:
        """There is no client left to answer."""
        self._abandon(self)

    def client_slow(self) -> None:
        """Nothing is being sent."""

    def client_ready(self) -> None:
        """Nothing is being sent."""


class AdmissionGate:
    """Between the request handler and the exchanges. One per worker."""

    def __init__(
        self,
        *,
        controller: AdmissionController,
        lease_client: LeaseClient,
        upstream: Upstream,
        request_log: RequestLog,
        request_builder: RoutingRequestBuilder,
        tracer: Tracer | None,
        identity: IdentityHeaders,
        keeper: Keeper,
        settings: GatewaySettings,
    ) -> None:
        self._controller = controller
        self._lease_client = lease_client
        self.in_flight = InFlight(upstream.limit, self._start_next)
        self._upstream = upstream
        self._request_log = request_log
        self._request_builder = request_builder
        self._tracer = tracer
        self._identity = identity
        self._keeper = keeper
        self._settings = settings
        self._clock, self._wall_clock = upstream.clock, identity.wall_clock

    def receive(
        self,
        connection: ServerConnection,
        request: Request,
        routing_request: RoutingRequest,
        caller: Caller,
        *,
        form: ClientForm,
        arrived_s: float,
        waited_s: float = 0.0,
        trace: Trace | None = None,
    ) -> Responder:
        """What answers from here, unless that has been done; raises where no replica could ever take the request."""
        hold = Hold(caller, arrived_s, waited_s)
        outcome = self._controller.admit(request, routing_request, hold, self._clock(), self._wall_clock())
        if isinstance(outcome, Start) and outcome.pending is None:
            exchange = self._exchange(connection, request, routing_request, hold, trace, form=form)
            try:
                exchange.start(outcome.choice)
            except BaseException:
                hold.cancel()  # it was not asked, and so it used nothing of its limits
                raise
            return exchange
        pending = outcome.pending
        if pending is None:
            assert isinstance(outcome, Refuse)
            try:
                raise outcome.error
            finally:
                del outcome  # the error's traceback has this frame
        queued = QueuedRequest(pending, connection, trace, self._abandon, form)
        try:
            self._act(outcome, queued)
        finally:
            queued.is_arriving = False
        return queued.exchange or queued

    def client_answer(
        self, connection: ServerConnection, request: Request, hold: Hold, form: ClientForm
    ) -> ClientAnswer:
        """What writes to the client."""
        return ClientAnswer(connection, request, hold, self._identity, form, keeper=self._keeper)

    def tick(self) -> None:
        """Refuse those that have waited too long; start those for whom there is room."""
        for outcome in self._controller.tick(self._clock()):
            self._act(outcome, _queued(outcome.pending))

    def close(self) -> None:
        """None that waits will start any more."""
        for refuse in self._controller.close():
            self._refuse(refuse, _queued(refuse.pending))

    def configure(self, settings: GatewaySettings) -> None:
        """Other bounds from the next request on."""
        self._settings = settings

    def note_gauges(self) -> None:
        """How many wait, by model and class."""
        for queue in self._controller.queues.snapshots(self._clock()):
            for one in queue.classes:
                metrics.queue_depth.set((queue.model, one.urgency.value), one.depth)

    def _start_next(self, model: str) -> None:
        """There may be room for another request of the model."""
        queue = self._controller.queues.try_queue(model)
        if queue is None or not len(queue):
            return  # as after nearly every request
        for start in self._controller.finished(model, self._clock()):
            self._act(start, _queued(start.pending))

    def _act(self, outcome: Start | Wait | Refuse, queued: QueuedRequest) -> None:
        if isinstance(outcome, Start):
            if outcome.was_queued:
                self._meter(queued.pending)
            self._start(outcome.choice, queued)
        elif isinstance(outcome, Refuse):
            self._refuse(outcome, queued)
        elif outcome.reservation is not None:
            queued.lease = self._lease_client.wait(outcome.reservation, partial(self._leased, queued))
        else:
            self._start_next(queued.pending.routing_request.model)

    def _leased(self, queued: QueuedRequest, answer: LeaseOutcome) -> None:
        queued.lease = None
        try:
            self._act(self._controller.leased(queued.pending, answer, self._clock()), queued)
        except Exception as error:  # noqa: BLE001  # the root of a turn: our mistake must not cost others theirs
            self._fail(queued, error)

    def _start(self, choice: RoutingChoice, queued: QueuedRequest) -> None:
        """Start one whose turn has come."""
        pending = queued.pending
        try:
            exchange = self._exchange(
                queued.connection,
                pending.request,
                pending.routing_request,
                pending.hold,
                queued.trace,
                form=queued.form,
            )
            queued.exchange = exchange
            if not queued.is_arriving:
                queued.connection.hand_over(exchange)
            exchange.start(choice)
        except HeterodyneError as error:
            self._refuse(self._controller.refuse(pending, error), queued)
        except Exception as error:  # noqa: BLE001  # the root of a start: our mistake must not cost an answer
            self._fail(queued, error)

    def _exchange(
        self,
        connection: ServerConnection,
        request: Request,
        routing_request: RoutingRequest,
        hold: Hold,
        trace: Trace | None,
        *,
        form: ClientForm,
    ) -> Exchange:
        race = Race(self._upstream, request, routing_request, hold.caller, trace)
        answer = self.client_answer(connection, request, hold, form)
        return Exchange(self.in_flight, self._request_log, self._settings, answer, race)

    def _fail(self, queued: QueuedRequest, error: Exception) -> None:
        pending = queued.pending
        _log.error("request_failed", request_id=pending.request.id, exc_info=error)
        internal = InternalError("An internal error; the log has the details.")
        self._refuse(self._controller.refuse(pending, internal), queued)

    def _abandon(self, queued: QueuedRequest) -> None:
        """Its client has left."""
        self._forget(queued, was_queued=self._controller.abandon(queued.pending))
        self._write_down(queued, ClientGone("The client left before its turn came."))

    def _refuse(self, refuse: Refuse, queued: QueuedRequest) -> None:
        pending = queued.pending
        self._forget(queued, was_queued=refuse.was_queued)
        refused = pending.refused
        if refused is not None and refused.is_hopeless:
            self._request_builder.doubt(pending.routing_request)
        answer_error(
            refuse.error,
            self._identity,
            queued.connection,
            pending.request.id,
            form=queued.form,
            more_headers=b"" if refused is None else rate_headers(refused.leased_counters, self._wall_clock()),
            tier=pending.hold.caller.tier,
        )
        self._write_down(queued, refuse.error)

    def _forget(self, queued: QueuedRequest, *, was_queued: bool) -> None:
        if queued.lease is not None:
            queued.lease.cancel()
            queued.lease = None
        if was_queued:
            self._meter(queued.pending)

    def _meter(self, pending: PendingRequest) -> None:
        """It waits for its turn no longer."""
        routing_request = pending.routing_request
        labels = (routing_request.model, routing_request.urgency.value, pending.hold.caller.tier.value)
        metrics.queue_wait.observe(labels, self._clock() - pending.arrived_s)

    def _write_down(self, queued: QueuedRequest, error: HeterodyneError) -> None:
        pending = queued.pending
        request, hold = pending.request, pending.hold
        waited_s = self._clock() - pending.arrived_s
        record = refused_record(
            error,
            request.id,
            self._wall_clock() - waited_s,
            len(request.received_body),
            caller=hold.caller,
            request=request,
            model=self._upstream.fleet.snapshot.model_of(request.model),
            urgency=pending.routing_request.urgency,
            queued_s=waited_s,
        )
        if self._tracer is not None and queued.trace is not None:
            queued_s = 0.0 if queued.is_arriving else waited_s
            record = self._tracer.refused(queued.trace, record, request, arrived_s=hold.arrived_s, queued_s=queued_s)
        self._request_log.refused(record, hold.caller, pending.routing_request.urgency, request.received_body)
        if request.cache is not None:
            request.cache.settle(is_whole=False, model="", version="", usd=0.0)


def _queued(pending: PendingRequest | None) -> QueuedRequest:
    """What the gate knows a pending request by."""
    assert pending is not None
    assert isinstance(pending.handle, QueuedRequest)
    return pending.handle
