"""How a request that no replica was asked for is answered and written down."""

from heterodyne.domain.errors import ClientGone, HeterodyneError
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.request import Request
from heterodyne.domain.tenant import Caller
from heterodyne.domain.urgency import Urgency
from heterodyne.gateway import render
from heterodyne.gateway.fleet_view import FleetView
from heterodyne.gateway.forms.form import ClientForm
from heterodyne.gateway.forms.passing import OPENAI
from heterodyne.gateway.request_log import RequestLog
from heterodyne.gateway.tracer import Tracer
from heterodyne.telemetry import metrics
from heterodyne.wire.message import HttpRequest
from heterodyne.wire.server_connection import ServerConnection

REFUSED = "refused"  # the operation of what was not understood far enough to have one
ASKED_MODEL_CHARS_MAX = 200
INTERACTIVE = Urgency.INTERACTIVE


def answer_error(
    error: HeterodyneError,
    identity: render.IdentityHeaders,
    connection: ServerConnection,
    request_id: str,
    *,
    form: ClientForm = OPENAI,
    is_head: bool = False,
    more_headers: bytes = b"",
    tier: str = "",
) -> None:
    """The error, as the answer; `tier` is a known caller's."""
    metrics.refusals.add((error.code, tier))
    body = form.error_body(error)
    headers = render.error_headers(error) + identity.of(request_id) + more_headers
    keeps_alive = connection.keeps_alive
    connection.finish(render.whole(error.status, headers, body, keeps_alive=keeps_alive, is_head=is_head))


def refused_record(
    error: HeterodyneError,
    request_id: str,
    at: float,
    request_bytes: int,
    *,
    caller: Caller | None = None,
    request: Request | None = None,
    model: str = "",
    urgency: Urgency = INTERACTIVE,
    queued_s: float = 0.0,
) -> RequestRecord:
    """What is written down of it; a caller or a request that was never found out is not named.

    `model` is the one that the request means, empty where there is none of that name.
    """
    asked = request.model[:ASKED_MODEL_CHARS_MAX] if request is not None else ""
    return RequestRecord(
        id=request_id,
        at=at,
        operation=request.operation if request is not None else REFUSED,
        model=model,
        asked_model=asked if asked != model else "",
        status=error.status,
        reason=error.code,
        request_bytes=request_bytes,
        tenant=caller.project if caller is not None else "",
        key=caller.key if caller is not None else "",
        tier=caller.tier if caller is not None else "",
        urgency="" if urgency is INTERACTIVE else urgency,
        queue_ms=queued_s * 1000 if queued_s else None,
        guards=() if request is None or request.guard is None else tuple(request.guard.verdicts),
    )


class Refuser:
    """Answers and writes down what is turned away before a replica could be asked. One per worker."""

    def __init__(
        self,
        identity: render.IdentityHeaders,
        request_log: RequestLog,
        tracer: Tracer | None,
        fleet: FleetView,
    ) -> None:
        self._identity = identity
        self._request_log = request_log
        self._tracer = tracer
        self._fleet = fleet

    def refuse(
        self,
        error: HeterodyneError,
        connection: ServerConnection,
        request_id: str,
        http: HttpRequest,
        caller: Caller | None,
        *,
        form: ClientForm,
        route: str,
        request: Request | None = None,
        urgency: Urgency = INTERACTIVE,
    ) -> None:
        """The answer and its record; `request` where it was understood, `route` where its path is one of ours."""
        if not isinstance(error, ClientGone):
            answer_error(
                error,
                self._identity,
                connection,
                request_id,
                form=form,
                is_head=http.method == b"HEAD",
                tier=caller.tier if caller is not None else "",
            )
        record = refused_record(
            error,
            request_id,
            self._identity.wall_clock(),
            len(http.body),
            caller=caller,
            request=request,
            model="" if request is None else self._fleet.snapshot.model_of(request.model),
            urgency=urgency,
        )
        if self._tracer is not None:
            method = http.method.decode("ascii", "replace")
            record = self._tracer.turned_away(
                record, http.headers, method=method, route=route, is_stranger=caller is None
            )
        self._request_log.refused(record, caller, urgency, http.body)
