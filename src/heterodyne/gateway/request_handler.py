"""The steps between a complete HTTP request and an exchange with an engine, in order."""

from collections.abc import Callable
from pathlib import Path

from heterodyne.admission.callers import BEARER, LOCAL, CallerRing
from heterodyne.admission.concurrency_limit import ConcurrencyLimit
from heterodyne.admission.host_names import HostNames
from heterodyne.domain.errors import (
    ClientGone,
    HeterodyneError,
    InternalError,
    InvalidField,
    MethodNotAllowed,
    UnknownModel,
    UnknownPath,
    UnsupportedMediaType,
)
from heterodyne.domain.fleet import FleetSnapshot
from heterodyne.domain.request import Request
from heterodyne.domain.tenant import Caller
from heterodyne.domain.urgency import Urgency
from heterodyne.gateway import openapi, render, routes
from heterodyne.gateway.admission_gate import AdmissionGate
from heterodyne.gateway.body_size import LARGE_BYTES, SMALL_BYTES, is_large
from heterodyne.gateway.dialects import open_inference
from heterodyne.gateway.fleet_view import FleetView
from heterodyne.gateway.known_models import no_such_model
from heterodyne.gateway.offload.job import ReadBody
from heterodyne.gateway.offload.process import Offload
from heterodyne.gateway.offload.reading import LargeReads
from heterodyne.gateway.open_pages import page_caller
from heterodyne.gateway.refusal import answer_error, refused_record
from heterodyne.gateway.request_ids import RequestIds
from heterodyne.gateway.request_log import RequestLog
from heterodyne.gateway.routed_head import RoutedHead
from heterodyne.gateway.routing_hints import read_routing_hints
from heterodyne.gateway.routing_request_builder import RoutingRequestBuilder
from heterodyne.gateway.scoped import scoped
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.gateway.tracer import Tracer
from heterodyne.telemetry import log
from heterodyne.wire.message import HttpRequest
from heterodyne.wire.server_connection import Responder, ServerConnection

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
        self._host_names = host_names
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
        self.large_reads = LargeReads(offload)
        self.started_at = started_at
        self.worker_name = worker_name
        self.run_dir = run_dir  # where workers leave their numbers for each other; None where there is only one

    def admit(self, callers: CallerRing, host_names: HostNames) -> None:
        """Other keys and names from the next request on."""
        self.callers, self._host_names = callers, host_names

    def configure(self, settings: GatewaySettings) -> None:
        """Other bounds from the next request on."""
        self.settings = settings

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
        callers, host_names, now_wall_s = self.callers, self._host_names, self._wall_clock()
        last = connection.last_check
        if isinstance(last, RoutedHead) and last.holds_for(http, callers, host_names, now_wall_s):
            return last
        route, caller = routes.find(http.path), None
        try:
            if route is None:
                raise UnknownPath(f"There is no {http.path.decode('ascii', 'replace')[:200]} here.")
            if http.method != route.method and not (http.method == b"HEAD" and route.method == b"GET"):
                allow = route.method.decode()
                raise MethodNotAllowed(f"This path takes {allow} only.", allow=allow)
            if not route.is_probe:
                host_names.check(http.headers.get(b"host"))
            if route.is_open:
                return RoutedHead(http, route, LOCAL, callers, host_names, body_bytes_max=0)
            caller = callers.check(_key_line(http.headers, route), now_wall_s)
            if route.page is not None:
                return RoutedHead(http, route, caller, callers, host_names, body_bytes_max=0)
            _check_media_type(http.headers)
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
                answer = route.page(self, http, caller)
                headers = answer.headers + self._identity.of(request_id)
                is_head = http.method == b"HEAD"
                connection.finish(
                    render.whole(
                        answer.status, headers, answer.body, keeps_alive=connection.keeps_alive, is_head=is_head
                    )
                )
                return None
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

    def _page_caller(self, route: routes.Route, http: HttpRequest, connection: ServerConnection) -> Caller:
        return page_caller(
            http.headers,
            "" if connection.peer is None else connection.peer[0],
            self.callers,
            self._host_names,
            self._wall_clock(),
            needs_key=route.is_metrics and self.settings.metrics_access == "key",
        )

    def _infer(
        self, route: routes.Route, http: HttpRequest, connection: ServerConnection, request_id: str, caller: Caller
    ) -> Responder | None:
        assert route.read is not None
        self._limit.check_room()
        if self._request_log.is_audited:
            self._request_log.check()
        arrived_s, settings = self._clock(), self.settings
        asked = http.headers.get(b"x-heterodyne-deadline-ms")
        deadline_s = arrived_s + (
            settings.deadline_default_s if asked is None else _deadline_s(asked, settings.deadline_max_s)
        )
        body, request = http.body, None
        if len(body) > SMALL_BYTES:
            if route.try_read_long is not None and len(body) <= LARGE_BYTES:
                request = route.try_read_long(body, request_id, deadline_s, settings)
            if request is None and is_large(body):
                return self._read_large(
                    route, http, connection, caller, request_id=request_id, arrived_s=arrived_s, deadline_s=deadline_s
                )
        if request is None:
            request = route.read(body, request_id, deadline_s, settings)
        return self._admit(route, http, connection, request, caller, arrived_s=arrived_s)

    def _read_large(
        self,
        route: routes.Route,
        http: HttpRequest,
        connection: ServerConnection,
        caller: Caller,
        *,
        request_id: str,
        arrived_s: float,
        deadline_s: float,
    ) -> Responder:
        """The same, with the body read beside the worker's loop."""

        def understood(request: Request) -> None:
            try:
                self._limit.check_room()  # others may have come in meanwhile
                responder = self._admit(route, http, connection, request, caller, arrived_s=arrived_s)
                if responder is not None and connection.is_answering(http):
                    connection.hand_over(responder)
            except HeterodyneError as error:
                refused(error)
            except Exception as error:  # noqa: BLE001  # the root of a request, as in `handle`
                _log.error("request_failed", request_id=request_id, exc_info=error)
                refused(InternalError("An internal error; the log has the details."))

        def refused(error: HeterodyneError) -> None:
            self._refuse(error, connection, request_id, http, caller)

        job = ReadBody(
            path=http.path,
            request_id=request_id,
            deadline_s=deadline_s,
            settings=self.settings,
            wants_prompt=any(len(replicas) > 1 for replicas in self.fleet.by_model.values()),
        )
        return self.large_reads.read(job, http.body, caller.salt, understood, refused)

    def _admit(
        self,
        route: routes.Route,
        http: HttpRequest,
        connection: ServerConnection,
        request: Request,
        caller: Caller,
        *,
        arrived_s: float,
    ) -> Responder | None:
        builder, fleet = self._request_builder, self._fleet.snapshot
        routing_request = builder.routing_request(request, read_routing_hints(http.headers), caller.salt, fleet)
        try:
            if caller.scopes:
                request, routing_request = scoped(request, routing_request, caller, builder)
            trace = None if self._tracer is None else self._tracer.begin(http.headers)
            return self._gate.receive(
                connection, request, routing_request, caller, form=route.form, arrived_s=arrived_s, trace=trace
            )
        except HeterodyneError as error:
            shown = no_such_model(request.model, caller, fleet) if type(error) is UnknownModel else error
            self._refuse(shown, connection, request.id, http, caller, request=request, urgency=routing_request.urgency)
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
        if not isinstance(error, ClientGone):
            answer_error(
                error,
                self._identity,
                connection,
                request_id,
                form=head.form,
                is_head=http.method == b"HEAD",
                tier=caller.tier if caller is not None else "",
            )
        record = refused_record(
            error,
            request_id,
            self._wall_clock(),
            len(http.body),
            caller=caller,
            request=request,
            model="" if request is None else self.fleet.model_of(request.model),
            urgency=urgency,
        )
        if self._tracer is not None:
            record = self._tracer.turned_away(
                record,
                http.headers,
                method=http.method.decode("ascii", "replace"),
                route=http.path.decode("ascii") if http.path in routes.ROUTES else "",
                is_stranger=caller is None,
            )
        self._request_log.refused(record, caller, urgency, http.body)


def _key_line(headers: dict[bytes, bytes], route: routes.Route) -> bytes | None:
    """The key as an Authorization header has it, wherever the clients of an API put it; None: there is none."""
    authorization = headers.get(b"authorization")
    if authorization is not None or not route.key_headers:
        return authorization
    key = next((headers[name] for name in route.key_headers if name in headers), None)
    return None if key is None else BEARER + key


def _check_media_type(headers: dict[bytes, bytes]) -> None:
    """Only declared JSON: a web page cannot send that to a loopback port without being asked first."""
    declared = headers.get(b"content-type", b"")
    if not declared.lower().startswith(b"application/json"):
        if b"inference-header-content-length" in headers:
            raise UnsupportedMediaType(open_inference.BINARY)
        raise UnsupportedMediaType("Send the body as JSON with the header `Content-Type: application/json`.")
    if headers.get(b"content-encoding", b"identity") != b"identity":
        raise UnsupportedMediaType("Compressed request bodies are not supported.")


def _deadline_s(asked: bytes, longest_s: float) -> float:
    if not asked.isdigit() or len(asked) > 12 or not 0 < int(asked) <= longest_s * 1000:
        raise InvalidField(
            f"x-heterodyne-deadline-ms: a whole number of milliseconds up to {longest_s * 1000:.0f} is expected.",
            param="x-heterodyne-deadline-ms",
        )
    return int(asked) / 1000
