"""Answers where a proxy is to forward a request: reads it, has it admitted and routed, and says in which words."""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from heterodyne.admission.callers import LOCAL
from heterodyne.domain.errors import CallerError, EngineUnavailable, HeterodyneError, InternalError, NotAllowed
from heterodyne.domain.fleet import Replica
from heterodyne.domain.request import Request
from heterodyne.domain.urgency import Urgency
from heterodyne.endpoint_picker.forwarded import ForwardedHead, ForwardedReader, any_request
from heterodyne.endpoint_picker.pick import Pick
from heterodyne.endpoint_picker.pick_gate import PickGate
from heterodyne.endpoint_picker.protocol import endpoint_of
from heterodyne.endpoint_picker.rules import PickerRules
from heterodyne.engines.header_lines import header_lines
from heterodyne.engines.json_edit import put
from heterodyne.gateway.fleet_view import ReplicaWire
from heterodyne.gateway.refusal import refused_record
from heterodyne.gateway.request_log import RequestLog
from heterodyne.gateway.upstream import Upstream
from heterodyne.telemetry import metrics

OUR_KEYS: Final = ("authorization", "x-api-key", "x-goog-api-key")  # where clients put keys that are for us alone


class Picked(Struct, frozen=True, kw_only=True, eq=False):
    """Where one request goes."""

    endpoint: str
    pick: Pick | None  # None: no model was asked for, and nothing is held
    headers: bytes = b""  # that the replica is to have, as lines
    answer_headers: bytes = b""  # that the client is to have
    removed: Sequence[str] = ()  # headers that the replica is not to have
    body: bytes | None = None  # in place of the one that came; None: that one


class EndpointPicker:
    """One per worker."""

    def __init__(
        self,
        reader: ForwardedReader,
        gate: PickGate,
        upstream: Upstream,
        request_log: RequestLog,
        rules: Callable[[], PickerRules],
        *,
        wall_clock: Callable[[], float],
    ) -> None:
        self.reader = reader
        self._gate = gate
        self._upstream = upstream
        self._log = request_log
        self.rules = rules
        self._wall_clock = wall_clock
        self.body_bytes = 0  # of bodies that are being received
        self.streams = 0  # calls of proxies that have not ended

    async def pick(self, head: ForwardedHead, body: bytes) -> Picked:
        """Raises a named error where it goes nowhere, which is written down."""
        request: Request | None = None
        try:
            read = self.reader.read(head, body)
            if read is None:
                return self._any(head)
            request, routing_request = read
            pick = await self._gate.pick(request, routing_request, head.caller, arrived_s=head.arrived_s)
            try:
                return self._picked(pick, head, body)
            except BaseException as error:
                pick.give_up(error if isinstance(error, HeterodyneError) else InternalError("It was not forwarded."))
                raise
        except HeterodyneError as error:
            shown = self.reader.explained(error, head, request)
            self.refused(shown, head, request, len(body))
            if shown is error:
                raise
            raise shown from error

    def refused(
        self, error: HeterodyneError, head: ForwardedHead | None, request: Request | None = None, size: int = 0
    ) -> None:
        """Write down a request that no replica was found for, or that is none."""
        caller = None if head is None else head.caller
        metrics.refusals.add((error.code, "" if caller is None else caller.tier))
        if head is None:
            return
        model = "" if request is None else self._upstream.fleet.snapshot.model_of(request.model)
        record = refused_record(
            error, head.request_id, self._wall_clock(), size, caller=caller, request=request, model=model
        )
        self._log.refused(record, caller, Urgency.INTERACTIVE, b"" if request is None else request.received_body)

    def _any(self, head: ForwardedHead) -> Picked:
        """Lists of models, probes and the like: whichever replica is ready, the least loaded of the first model."""
        error: HeterodyneError = EngineUnavailable("There is no endpoint now.", retry_after_s=1)
        for model in self._upstream.fleet.snapshot.by_model:
            try:
                choice = self._upstream.selector.decide(*any_request(model, head), self._upstream.clock())
            except (EngineUnavailable, CallerError) as why:
                error = why
                continue
            wire = self._upstream.fleet.wire(choice.forecast.state.replica_id)
            return Picked(endpoint=endpoint_of(wire.replica), pick=None, headers=_key_lines(wire))
        raise EngineUnavailable(error.message, retry_after_s=1)

    def _picked(self, pick: Pick, head: ForwardedHead, body: bytes) -> Picked:
        wire, request = pick.wire, pick.request
        pick.told()
        return Picked(
            endpoint=endpoint_of(wire.replica),
            pick=pick,
            headers=_key_lines(wire),
            answer_headers=wire.answer_headers(pick.choice, asked_model=request.model),
            removed=OUR_KEYS if self.rules().settings.access == "key" and head.caller.key != LOCAL.key else (),
            body=_try_rewritten(request, body, wire.replica),
        )


def _try_rewritten(request: Request, body: bytes, replica: Replica) -> bytes | None:
    """With the name that the engine knows the model by, and the length that its key allows; None: it is right."""
    rewritten = body
    if request.body is not body:
        if request.received is None:
            rewritten = request.body
        elif request.output_tokens_max is not None and request.changes is not None:
            raise NotAllowed("Say how long the answer may be: this key has a limit.")
    name = replica.engine_model or replica.model
    if name != request.model and request.model not in replica.adapters and not request.media_type:
        rewritten = put(rewritten, {"model": msgspec.json.encode(name)})
    return None if rewritten is body else rewritten


def _key_lines(wire: ReplicaWire) -> bytes:
    return header_lines(wire.replica, wire.dialect) if wire.replica.api_key_env else b""
