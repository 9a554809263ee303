"""Makes of a proxy's request what admission and routing want to know, by the same readers as the gateway's own."""

from collections.abc import Callable
from typing import Final, final

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import EngineUnavailable, HeterodyneError, MethodNotAllowed, UnknownModel, UnknownPath
from heterodyne.domain.fleet import ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.domain.tenant import Caller
from heterodyne.endpoint_picker.caller import ProxyCallers, with_objective
from heterodyne.endpoint_picker.protocol import SLO_HEADERS, TEST_SELECTION, endpoints_in, replicas_at
from heterodyne.endpoint_picker.rules import PickerRules
from heterodyne.gateway import routes
from heterodyne.gateway.body_size import LARGE_BYTES, SMALL_BYTES
from heterodyne.gateway.dialects import chat, completion
from heterodyne.gateway.forms.form import ClientForm
from heterodyne.gateway.known_models import no_such_model
from heterodyne.gateway.request_handler import RequestHandler
from heterodyne.gateway.request_log import RequestLog
from heterodyne.gateway.route import Route
from heterodyne.gateway.routed_head import key_line, longest_wait_s
from heterodyne.gateway.routing_hints import read_routing_hints
from heterodyne.gateway.scoped import scoped
from heterodyne.routing.routing_request import RoutingRequest

SEGMENTS_MAX: Final = 16  # of a path, that are tried as the beginning of one of ours
ABSENT: Final = msgspec.Raw()
DEADLINE: Final = b"x-heterodyne-deadline-ms"


@final
class ForwardedHead:
    """A request whose body has yet to come, and which the proxy may forward as far as its head tells."""

    __slots__ = ("among", "arrived_s", "caller", "deadline_s", "form", "headers", "request_id", "route")

    def __init__(
        self,
        headers: dict[bytes, bytes],
        route: Route | None,
        form: ClientForm,
        caller: Caller,
        among: frozenset[ReplicaId] | None,
        *,
        request_id: str,
        arrived_s: float,
        deadline_s: float,
    ) -> None:
        self.headers = headers
        self.route = route  # None: no API of ours has its path
        self.form = form
        self.caller = caller
        self.among = among  # the only replicas that it may go to; None: any
        self.request_id = request_id
        self.arrived_s = arrived_s
        self.deadline_s = deadline_s


class _Kind(Struct):
    """What a body of an unknown path looks like."""

    messages: msgspec.Raw = ABSENT
    prompt: msgspec.Raw = ABSENT


_kind_of = msgspec.json.Decoder(_Kind).decode


class ForwardedReader:
    """One per worker."""

    def __init__(
        self,
        handler: RequestHandler,
        request_log: RequestLog,
        rules: Callable[[], PickerRules],
        *,
        next_id: Callable[[], str],
        clock: Callable[[], float],
        wall_clock: Callable[[], float],
    ) -> None:
        self._handler = handler
        self._builder = request_log.request_builder
        self._rules = rules
        self._proxy_callers = ProxyCallers()
        self._next_id = next_id
        self._clock = clock
        self._wall_clock = wall_clock

    def head(self, headers: dict[bytes, bytes], inference_pool: str, subset: frozenset[str] | None) -> ForwardedHead:
        """Whether its body is worth waiting for; raises why not."""
        rules, gateway = self._rules(), self._handler.settings
        route = _find(headers.get(b":path", b"").partition(b"?")[0], headers.get(b":method", b""))
        caller = self._caller(headers, route, rules)
        if self._handler.restrictions is not None:
            self._handler.restrictions.check(caller.key)
        among = self._among(headers, inference_pool, subset, rules)
        now_s, asked = self._clock(), headers.get(DEADLINE)
        wait_s = gateway.deadline_default_s if asked is None else longest_wait_s(asked, gateway.deadline_max_s)
        return ForwardedHead(
            headers,
            route,
            routes.form_of(b"") if route is None else route.form,
            with_objective(caller, headers, rules.settings.objectives),
            among,
            request_id=self._next_id(),
            arrived_s=now_s,
            deadline_s=now_s + wait_s,
        )

    def read(self, head: ForwardedHead, body: bytes) -> tuple[Request, RoutingRequest] | None:
        """None: no model is asked for, and any replica may answer it."""
        request = self._request(head, body)
        if request is None:
            return None
        fleet = self._handler.fleet
        hints = read_routing_hints(_with_promises(head.headers))
        routing_request = self._builder.routing_request(request, hints, head.caller.salt, fleet)
        if head.caller.scopes:
            request, routing_request = scoped(request, routing_request, head.caller, self._builder)
        if head.among is not None:
            routing_request = routing_request.copied()
            routing_request.among = head.among
        return request, routing_request

    def explained(self, error: HeterodyneError, head: ForwardedHead, request: Request | None) -> HeterodyneError:
        """The error as the client is to see it: a model whose InferencePool is empty is one that will be back."""
        if request is None or not isinstance(error, UnknownModel):
            return error
        fleet = self._handler.fleet
        model = fleet.aliases.get(request.model, request.model)
        if model in self._rules().models:
            return EngineUnavailable(f"The InferencePool of {model!r} has no endpoint now.", retry_after_s=1)
        return no_such_model(request.model, head.caller, fleet)

    def _caller(self, headers: dict[bytes, bytes], route: Route | None, rules: PickerRules) -> Caller:
        if rules.settings.access == "proxy":
            return self._proxy_callers.of(headers)
        line = key_line(headers, () if route is None else route.key_headers)
        caller = self._handler.callers.check(line, self._wall_clock())
        if route is None:
            path = headers.get(b":path", b"").decode("ascii", "replace")
            raise UnknownPath(f"There is no {path[:200]} here.")
        return caller

    def _among(
        self, headers: dict[bytes, bytes], inference_pool: str, subset: frozenset[str] | None, rules: PickerRules
    ) -> frozenset[ReplicaId] | None:
        fleet = self._handler.fleet
        among = rules.replicas_of(inference_pool, fleet) if inference_pool else None
        if rules.settings.heeds_conformance_headers and (chosen := headers.get(TEST_SELECTION)) is not None:
            among = _within(among, replicas_at(endpoints_in(chosen.decode("latin-1")), fleet))
        if subset is not None:
            among = _within(among, replicas_at(subset, fleet))
        if among is not None and not among:
            raise EngineUnavailable("None of the endpoints that this request may go to is there now.", retry_after_s=1)
        return among

    def _request(self, head: ForwardedHead, body: bytes) -> Request | None:
        route, settings = head.route, self._handler.settings
        read = None if route is None else route.read
        if read is None:
            read = _reader_of(body) if route is None and head.headers.get(b":method") == b"POST" else None
        if read is None:
            return None
        if route is not None and route.try_read_long is not None and SMALL_BYTES < len(body) <= LARGE_BYTES:
            request = route.try_read_long(body, head.request_id, head.deadline_s, settings)
            if request is not None:
                return request
        return read(body, head.request_id, head.deadline_s, settings)


def any_request(model: str, head: ForwardedHead) -> tuple[Request, RoutingRequest]:
    """One that no model is asked for, as routing takes it: without a prompt and without an answer to wait for."""
    request = Request(id=head.request_id, operation=Operation.COUNT, model=model, body=b"", deadline_s=head.deadline_s)
    routing_request = RoutingRequest(
        model=model, prompt_tokens=1, output_tokens=1.0, tenant=head.caller.salt, streams=False, among=head.among
    )
    return request, routing_request


def _find(path: bytes, method: bytes) -> Route | None:
    """By the whole path, or by its end: what comes before is often the proxy's to take away."""
    at = 0
    for _ in range(SEGMENTS_MAX):
        route = routes.find(path[at:])
        if route is not None:
            try:
                return route if route.method == method else route.of_method(method)
            except MethodNotAllowed:
                if not at:
                    raise
        at = path.find(b"/", at + 1)
        if at < 0:
            break
    return None


def _reader_of(body: bytes) -> Callable[..., Request] | None:
    """Behind a path that the proxy rewrites, bodies tell what they are."""
    try:
        kind = _kind_of(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if bytes(kind.messages):
        return chat.read
    return completion.read if bytes(kind.prompt) else None


def _with_promises(headers: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """With llm-d's names for them as ours; ours go first."""
    if SLO_HEADERS.keys().isdisjoint(headers):
        return headers
    return {**{ours: headers[theirs] for theirs, ours in SLO_HEADERS.items() if theirs in headers}, **headers}


def _within(among: frozenset[ReplicaId] | None, these: frozenset[ReplicaId]) -> frozenset[ReplicaId]:
    return these if among is None else among & these
