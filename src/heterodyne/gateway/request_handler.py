"""The steps between a complete HTTP request and an exchange with an engine, in order."""

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from heterodyne.admission.callers import JUDGE, LOCAL, CallerRing
from heterodyne.admission.concurrency_limit import ConcurrencyLimit
from heterodyne.admission.host_names import HostNames
from heterodyne.domain.errors import ContentBlocked, HeterodyneError, InternalError, UnknownModel, UnknownPath
from heterodyne.domain.fleet import FleetSnapshot
from heterodyne.domain.request import Request
from heterodyne.domain.tenant import Caller
from heterodyne.domain.urgency import Urgency
from heterodyne.gateway import openapi, render, routes
from heterodyne.gateway.abuse.restrictions import KeyRestrictions
from heterodyne.gateway.admission_gate import AdmissionGate
from heterodyne.gateway.body_size import LARGE_BYTES, SMALL_BYTES, is_large
from heterodyne.gateway.caching.answer_cache import AnswerCache
from heterodyne.gateway.cascades.cascade_gate import CascadeGate
from heterodyne.gateway.fleet_view import FleetView
from heterodyne.gateway.guards.input_guard import InputGuard
from heterodyne.gateway.guards.remote.remote_guards import RemoteGuards
from heterodyne.gateway.known_models import no_such_model
from heterodyne.gateway.offload.job import BodyRead, ReadBody, Result
from heterodyne.gateway.offload.process import Offload
from heterodyne.gateway.offload.steps import OffloadedSteps, large_request
from heterodyne.gateway.open_pages import page_caller
from heterodyne.gateway.page_answer import answer_page
from heterodyne.gateway.pages import PageResponse
from heterodyne.gateway.refusal import Refuser, answer_error
from heterodyne.gateway.request_ids import RequestIds
from heterodyne.gateway.request_log import RequestLog
from heterodyne.gateway.route import Route
from heterodyne.gateway.routed_head import Arrival, RoutedHead, caller_of, check_media_type, longest_wait_s
from heterodyne.gateway.routing_hints import read_routing_hints
from heterodyne.gateway.routing_request_builder import RoutingRequestBuilder
from heterodyne.gateway.scoped import scoped_here
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.gateway.stored.inner_call import STORED_ID
from heterodyne.gateway.stored.recall import Recalled
from heterodyne.gateway.stored.room import StoredRoom
from heterodyne.gateway.tracer import Tracer
from heterodyne.telemetry import log
from heterodyne.wire.message import HttpRequest
from heterodyne.wire.responder import Responder
from heterodyne.wire.server_connection import ServerConnection

_log = log.get("gateway")


class RequestHandler:
    """Answers every request that reaches this worker. One per worker."""

    def __init__(
        self,
        *,
        settings: GatewaySettings,
        callers: CallerRing,
        host_names: HostNames,
        fleet: FleetView,
        limit: ConcurrencyLimit,
        gate: AdmissionGate,
        request_builder: RoutingRequestBuilder,
        request_log: RequestLog,
        tracer: Tracer | None,
        offload: Offload,
        stored: StoredRoom,
        remote_guards: RemoteGuards,
        identity: render.IdentityHeaders,
        ids: RequestIds,
        note_gauges: Callable[[], None],
        clock: Callable[[], float],
        started_at: int,
        worker_name: str = "worker",
        run_dir: Path | None = None,
    ) -> None:
        self.settings = settings
        self.callers = callers
        self.host_names = host_names
        self._fleet = fleet
        self._limit = limit
        self._gate = gate
        self._request_builder = request_builder
        self._request_log = request_log
        self._tracer = tracer
        self._identity = identity
        self._ids = ids
        self.note_gauges = note_gauges
        self._clock, self._wall_clock = clock, identity.wall_clock
        self.offloaded = OffloadedSteps(offload)
        self.remote_guards = remote_guards
        self.restrictions: KeyRestrictions | None = None  # None: nothing is held against any key
        self.input_guard: InputGuard | None = None  # None: there are no policies
        self.cascades: CascadeGate | None = None  # None: there are none
        self.answer_cache: AnswerCache | None = None  # None: no answer is kept to be given again
        self._refuser = Refuser(identity, request_log, tracer, fleet)
        self.stored = stored
        self.started_at, self.worker_name = started_at, worker_name
        self.run_dir = run_dir  # where workers leave their numbers for each other; None where there is only one

    @property
    def fleet(self) -> FleetSnapshot:
        """As it is now."""
        return self._fleet.snapshot

    @property
    def is_draining(self) -> bool:
        """Whether this worker takes no new requests."""
        return self._limit.is_draining

    @property
    def description(self) -> bytes:
        """The OpenAPI description."""
        return openapi.encoded_document()

    def check_head(self, http: HttpRequest, connection: ServerConnection) -> RoutedHead:
        """Whether what follows is worth holding: the path, the method, the name, the key and the form are known."""
        callers, host_names, now_wall_s = self.callers, self.host_names, self._wall_clock()
        last = connection.last_check
        if isinstance(last, RoutedHead) and last.holds_for(http, callers, host_names, now_wall_s):
            return last
        route, caller = routes.find(http.path), None
        try:
            if route is None:
                raise UnknownPath(f"There is no {http.path.decode('ascii', 'replace')[:200]} here.")
            if http.method != route.method and not (http.method == b"HEAD" and route.method == b"GET"):
                route = route.of_method(http.method)
            if not route.is_probe:
                host_names.check(http.headers.get(b"host"))
            if route.is_open:
                return RoutedHead(http, route, LOCAL, callers, host_names, body_bytes_max=0)
            caller = caller_of(http.headers, route, callers, connection, now_wall_s)
            if not route.takes_body:
                return RoutedHead(http, route, caller, callers, host_names, body_bytes_max=0)
            if route.is_upload:
                sink = self.stored.begin_upload(http.headers, caller)
                return RoutedHead(http, route, caller, callers, host_names, body_sink=sink)
            check_media_type(http.headers, is_form=route.is_form)
            connection.last_check = head = RoutedHead(http, route, caller, callers, host_names)
            return head
        except HeterodyneError as error:
            refusal = error
        except Exception as error:  # noqa: BLE001  # our mistake must not cost an answer
            _log.error("request_failed", exc_info=error)
            refusal = InternalError("An internal error; the log has the details.")
        # It is kept with the request, which its traceback would keep alive.
        refusal.__traceback__ = refusal.__context__ = refusal.__cause__ = None
        return RoutedHead(http, route, caller, callers, host_names, refusal=refusal, body_bytes_max=0)

    def handle(self, http: HttpRequest, connection: ServerConnection) -> Responder | None:
        """Answer now, or return whoever will."""
        request_id = self._ids.next()
        head = http.head_check
        assert isinstance(head, RoutedHead)
        if head.callers is not self.callers:
            head = self.check_head(http, connection)  # it has waited, and there are other keys now
        route, caller = head.route, head.caller
        if head.refusal is not None or route is None or caller is None:
            assert head.refusal is not None
            self._refuse(head.refusal, connection, request_id, http, caller)
            return None
        try:
            if route.is_open:
                caller = self._page_caller(route, http, connection)
            if route.page is not None:
                answer_page(route.page(self, http, caller), self._identity, connection, http, request_id)
                return None
            if route.stored_page is not None:
                arrival = Arrival(route, http, connection, caller, request_id=request_id)
                return self._show_stored(arrival, partial(route.stored_page, self.stored, http, caller))
            return self._infer(route, http, connection, request_id, caller)
        except HeterodyneError as error:
            self._refuse(error, connection, request_id, http, caller)
        except Exception as error:  # noqa: BLE001  # the root of a request: our mistake must not cost an answer
            _log.error("request_failed", request_id=request_id, exc_info=error)
            internal = InternalError("An internal error; the log has the details.")
            self._refuse(internal, connection, request_id, http, caller)
        return None

    def refuse(self, error: HeterodyneError, connection: ServerConnection) -> None:
        """Bytes that never became a request."""
        answer_error(error, self._identity, connection, self._ids.next())

    def _show_stored(self, arrival: Arrival, work: Callable[[], Awaitable[PageResponse]]) -> Responder:
        def shown(page: PageResponse) -> None:
            answer_page(page, self._identity, arrival.connection, arrival.http, arrival.request_id)

        return self.stored.works.start(work, shown, partial(self._refuse_arrival, arrival), arrival.route.longest_s)

    def _page_caller(self, route: Route, http: HttpRequest, connection: ServerConnection) -> Caller:
        return page_caller(
            http.headers,
            "" if connection.peer is None else connection.peer[0],
            self.callers,
            self.host_names,
            self._wall_clock(),
            certificate_names=connection.certificate_names,
            needs_key=route.is_metrics and self.settings.metrics_access == "key",
        )

    def _infer(
        self, route: Route, http: HttpRequest, connection: ServerConnection, request_id: str, caller: Caller
    ) -> Responder | None:
        if self.restrictions is not None:
            self.restrictions.check(caller.key)
        if caller.key != JUDGE.key:  # whoever waits for its judgement was let in
            self._limit.check_room()
        if self._request_log.is_audited:
            self._request_log.check()
        arrived_s, settings = self._clock(), self.settings
        asked = http.headers.get(b"x-heterodyne-deadline-ms")
        wait_s = settings.deadline_default_s if asked is None else longest_wait_s(asked, settings.deadline_max_s)
        arrival = Arrival(
            route, http, connection, caller, request_id=request_id, arrived_s=arrived_s, deadline_s=arrived_s + wait_s
        )
        if route.is_deferred is not None and STORED_ID not in http.headers and route.is_deferred(http.body):
            return self._show_stored(arrival, partial(self.stored.background.begin, http, caller, wait_s))
        recall = None if route.try_recall is None else route.try_recall(http.body)
        return self._read(arrival, http.body) if recall is None else self._recall(arrival, recall)

    def _recall(self, arrival: Arrival, recall: Recalled) -> Responder:
        """The same of a body that follows what was kept, which is put into it first."""

        def recalled(body: bytes) -> None:
            self._go_on(arrival, partial(self._read, arrival, body))

        look_up = partial(recall, self.stored.documents, arrival.caller.project)
        return self.stored.works.start(look_up, recalled, partial(self._refuse_arrival, arrival))

    def _read(self, arrival: Arrival, body: bytes) -> Responder | None:
        route, request = arrival.route, None
        assert route.read is not None
        if len(body) > SMALL_BYTES:
            if route.try_read_long is not None and len(body) <= LARGE_BYTES:
                request = route.try_read_long(body, arrival.request_id, arrival.deadline_s, self.settings)
            if request is None and is_large(body):
                return self._read_large(arrival, body)
        if request is None:
            request = route.read(body, arrival.request_id, arrival.deadline_s, self.settings)
        return self._admit(arrival, request) if self.input_guard is None else self._guard(arrival, request)

    def _read_large(self, arrival: Arrival, body: bytes) -> Responder:
        """The same, with the body read beside the worker's loop."""

        def understood(result: Result, made: bytes) -> None:
            assert isinstance(result, BodyRead)
            request = large_request(result, made, body)
            self._go_on(arrival, partial(self._guard, arrival, request))

        job = ReadBody(
            path=arrival.http.path,
            request_id=arrival.request_id,
            deadline_s=arrival.deadline_s,
            settings=self.settings,
            wants_prompt=bool(self.fleet.prefill)
            or any(len(replicas) > 1 for replicas in self.fleet.by_model.values()),
        )
        refused = partial(self._refuse_arrival, arrival)
        return self.offloaded.begin(
            job, body, arrival.caller.salt, deadline_s=arrival.deadline_s, done=understood, refused=refused
        )

    def _guard(self, arrival: Arrival, request: Request) -> Responder | None:
        """Where there are policies, no request is admitted but through here."""
        guard, caller = self.input_guard, arrival.caller
        if guard is None:  # they were taken away while it was read
            return self._admit(arrival, request)
        refused = partial(self._refuse_arrival, arrival, request=request)
        try:
            model = self.fleet.model_of(request.model)
            then, go_on = partial(self._admit, arrival), partial(self._go_on, arrival)
            return guard.check(request, caller, model, then=then, go_on=go_on, refused=refused)
        except ContentBlocked as error:
            refused(error)
            return None

    def _go_on(self, arrival: Arrival, step: Callable[[], Responder | None]) -> None:
        """Take the next step with a request that has waited."""
        try:
            self._limit.check_room()  # others may have come in meanwhile
            responder = step()
            if responder is not None and arrival.connection.is_answering(arrival.http):
                arrival.connection.hand_over(responder)
        except HeterodyneError as error:
            self._refuse_arrival(arrival, error)
        except Exception as error:  # noqa: BLE001  # the root of a request, as in `handle`
            _log.error("request_failed", request_id=arrival.request_id, exc_info=error)
            self._refuse_arrival(arrival, InternalError("An internal error; the log has the details."))

    def _admit_later(self, arrival: Arrival, request: Request) -> None:
        self._go_on(arrival, partial(self._admit, arrival, request))

    def _refuse_arrival(self, arrival: Arrival, error: HeterodyneError, request: Request | None = None) -> None:
        self._refuse(error, arrival.connection, arrival.request_id, arrival.http, arrival.caller, request=request)

    def _admit(self, arrival: Arrival, request: Request) -> Responder | None:
        builder, fleet, caller, http = self._request_builder, self._fleet.snapshot, arrival.caller, arrival.http
        if request.received is not None:
            request.received = http.body  # and not what was recalled with it
        if request.is_stored:
            request.stored_id = http.headers.get(STORED_ID, b"").decode()
        if self.cascades is not None:
            taken = self.cascades.take(arrival, request, later=self._admit_later, refused=self._refuse_arrival)
            if not isinstance(taken, Request):
                return taken
            request = taken
        routing_request = builder.routing_request(request, read_routing_hints(http.headers), caller.salt, fleet)
        request.cache_salt = builder.cache_salt(request.model, caller.salt, fleet)
        try:
            if caller.scopes:
                request, routing_request = scoped_here(request, routing_request, arrival, builder, self.stored.places)
            trace = None if self._tracer is None else self._tracer.begin(http.headers)
            if self.answer_cache is not None:
                later, gone = self._admit_later, self._refuse_arrival
                return self.answer_cache.receive(arrival, request, routing_request, trace, later=later, refused=gone)
            return self._gate.receive(
                arrival.connection,
                request,
                routing_request,
                caller,
                form=arrival.route.form,
                arrived_s=arrival.arrived_s,
                waited_s=arrival.waited_s,
                trace=trace,
            )
        except HeterodyneError as error:
            shown = no_such_model(request.model, caller, fleet) if type(error) is UnknownModel else error
            urgency = routing_request.urgency
            self._refuse(shown, arrival.connection, request.id, http, caller, request=request, urgency=urgency)
            return None

    def _refuse(
        self,
        error: HeterodyneError,
        connection: ServerConnection,
        request_id: str,
        http: HttpRequest,
        caller: Caller | None,
        *,
        request: Request | None = None,
        urgency: Urgency = Urgency.INTERACTIVE,
    ) -> None:
        """The answer and its record; `request` where it was understood."""
        head = http.head_check
        assert isinstance(head, RoutedHead)
        route = http.path.decode("ascii") if http.path in routes.ROUTES else ""
        self._refuser.refuse(
            error, connection, request_id, http, caller, form=head.form, route=route, request=request, urgency=urgency
        )
