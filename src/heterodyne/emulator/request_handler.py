"""From a complete HTTP request to its answer: an endpoint, a generation, or a change of faults."""

import functools
import math

import msgspec
from msgspec import structs

from heterodyne.domain.errors import EngineRefused, HeterodyneError, InvalidSpec
from heterodyne.emulator.engine import EmulatedEngine
from heterodyne.emulator.faults import Lie, faults_from
from heterodyne.emulator.kv_exchange import TAKE, TakeOrder
from heterodyne.emulator.request_body import read_body
from heterodyne.emulator.response import EmulatorResponse, Refusal, json_response, read, refusal_of
from heterodyne.emulator.surface import Routes, Surface
from heterodyne.wire.message import ANY_BODY, HeadCheck, HttpRequest
from heterodyne.wire.responder import Responder
from heterodyne.wire.server_connection import ServerConnection

GENERATING = (b"/v1/chat/completions", b"/v1/completions")
FAULTS = b"/emulator/faults"


class EmulatorRequestHandler:
    """The handler of every connection of one emulator."""

    def __init__(self, engine: EmulatedEngine, surface: Surface) -> None:
        self._engine = engine
        self._surface = surface
        self._endpoints: Routes = {
            **surface.routes,
            (b"GET", FAULTS): lambda engine, _: json_response(engine.faults),
            (b"POST", FAULTS): self._set_faults,
            (b"POST", TAKE.encode()): lambda engine, request: json_response(engine.kv.take(read(request, TakeOrder))),
        }
        fields = surface.extra_fields
        self._extra_fields = None if fields is None else functools.partial(fields, engine)
        self._frozen: EmulatorResponse | None = None  # the metrics of the moment it began to lie

    def check_head(self, request: HttpRequest, connection: ServerConnection) -> HeadCheck:
        return ANY_BODY

    def handle(self, request: HttpRequest, connection: ServerConnection) -> Responder | None:
        if request.method == b"POST" and request.path in GENERATING:
            return self._generate(request, connection)
        connection.finish(self._respond(request).encode(keeps_alive=connection.keeps_alive))
        return None

    def refuse(self, error: HeterodyneError, connection: ServerConnection) -> None:
        connection.finish(self._surface.error(refusal_of(error)).encode(keeps_alive=False))

    def _generate(self, request: HttpRequest, connection: ServerConnection) -> Responder | None:
        try:
            if self._engine.asleep and self._surface.refuses_asleep:
                raise EngineRefused("The engine sleeps.", status=503)
            return self._engine.generate(read_body(request.body), connection, extra_fields=self._extra_fields)
        except HeterodyneError as error:
            page = self._surface.error(refusal_of(error))
            retry_after_s = self._engine.faults.retry_after_s
            if isinstance(error, EngineRefused) and retry_after_s is not None:
                page = structs.replace(page, headers=b"retry-after: %d\r\n" % math.ceil(retry_after_s))
            connection.finish(page.encode(keeps_alive=connection.keeps_alive))
            return None

    def _respond(self, request: HttpRequest) -> EmulatorResponse:
        engine, faults = self._engine, self._engine.faults
        if request.path in self._surface.health_paths and (faults.is_unhealthy or faults.stall):
            return self._surface.error(Refusal(status=503, message="The emulator was told to be unhealthy."))
        if request.path == self._surface.metrics_path and faults.lie in (Lie.GARBAGE, Lie.FROZEN):
            return self._lie(faults.lie, request)
        page = self._endpoints.get((request.method, request.path))
        if page is None:
            is_known = any(request.path == path for _, path in self._endpoints)
            refusal = Refusal(
                status=405 if is_known else 404, message="Method Not Allowed" if is_known else "Not Found"
            )
            return self._surface.error(refusal)
        try:
            return page(engine, request)
        except HeterodyneError as error:
            return self._surface.error(refusal_of(error))

    def _lie(self, lie: Lie, request: HttpRequest) -> EmulatorResponse:
        metrics = self._endpoints[b"GET", self._surface.metrics_path]
        if lie is Lie.GARBAGE:
            return EmulatorResponse(body=b"<html>It works!</html>", kind=b"text/html")
        if self._frozen is None:
            self._frozen = metrics(self._engine, request)
        return self._frozen

    def _set_faults(self, engine: EmulatedEngine, request: HttpRequest) -> EmulatorResponse:
        try:
            given = msgspec.json.decode(request.body or b"{}", type=dict[str, object])
            engine.set_faults(faults_from(given))
        except (msgspec.MsgspecError, InvalidSpec) as error:
            return self._surface.error(Refusal(status=400, message=str(error)))
        self._frozen = None
        return json_response(engine.faults)
