"""One try of a request on one replica, from asking for a connection to exactly one outcome."""

from collections.abc import Sequence
from typing import Final

from heterodyne.domain.errors import EngineError, EngineGarbage, HeterodyneError
from heterodyne.domain.operation import Operation
from heterodyne.domain.provider_limit import ToldLimits
from heterodyne.domain.request import Request
from heterodyne.engines.wire_errors import engine_error
from heterodyne.gateway.attempt_needs import AttemptNeeds
from heterodyne.gateway.attempt_owner import AttemptOwner
from heterodyne.gateway.finished_try import Try
from heterodyne.gateway.fleet_view import ReplicaWire
from heterodyne.gateway.framed_events import AMAZON_EVENTS, STREAMS, FramedEvents
from heterodyne.gateway.kv.kv_gate import KvGate
from heterodyne.gateway.kv.kv_use import KvUse
from heterodyne.gateway.offload.large import LargeCall
from heterodyne.gateway.offload.process import PendingWork
from heterodyne.gateway.relay import StreamRelay
from heterodyne.gateway.upstream import Upstream
from heterodyne.ports.engine_request import EngineRequest
from heterodyne.routing.health.outcome import BUSY, CANCELLED, SUCCESS, Outcome
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.telemetry.tracing.context import Hop
from heterodyne.wire.chunks import unframe
from heterodyne.wire.client_connection import ClientConnection
from heterodyne.wire.errors import WireError

GENERATES: Final = (Operation.CHAT, Operation.COMPLETION)  # which alone leave KV behind
NOT_YET: Final = float("inf")  # while it waits for what it needs, so that nobody calls the replica late


class Attempt:
    """Holds an engine connection and a place on the replica until it is over."""

    __slots__ = (
        "_call",
        "_connection",
        "_is_paused",
        "_needs",
        "_owner",
        "_passes",
        "_pieces",
        "_pieces_bytes",
        "_replica_health",
        "_request_id",
        "_ticket",
        "_trial",
        "_upstream",
        "adapter",
        "asked_at_s",
        "began_at_s",
        "choice",
        "expected_s",
        "first_at_s",
        "heard_at_s",
        "hop",
        "is_over",
        "media_type",
        "relay",
        "retry_after",
        "sent_at_s",
        "status",
        "wire",
        "work",
    )

    def __init__(
        self,
        owner: "AttemptOwner[Attempt]",
        upstream: Upstream,
        choice: RoutingChoice,
        call: EngineRequest | LargeCall,
        request: Request,
        *,
        routing_request: RoutingRequest,
        earns: bool,
    ) -> None:
        wire = upstream.fleet.wire(choice.forecast.state.replica_id)
        replica_id = wire.replica_id
        adapter = request.model if wire.has_adapters and request.model in wire.replica.adapters else None
        self._owner, self._upstream, self._call = owner, upstream, call
        self._request_id, self._passes = request.id, request.passes
        self._connection: ClientConnection | None = None
        self._pieces: list[bytes] = []
        self._pieces_bytes = 0
        self._is_paused = False
        self.wire: ReplicaWire = wire
        self.status = 0  # of the engine's answer; 0 before its head
        self.media_type = b""  # of an answer that streams
        self.retry_after: bytes | None = None  # as the engine said it
        self.relay: StreamRelay | None = None  # once it streams
        self.is_over = False
        self.adapter = adapter  # that the replica must hold; None: the model alone is asked
        self.began_at_s = self.asked_at_s = self.heard_at_s = now_s = upstream.clock()
        self.sent_at_s = 0.0  # when the engine was sent the request; 0: it has not been
        self.first_at_s = 0.0  # when its answer began; 0: it has not
        self.work: PendingWork | None = None  # on a large answer, or on one that is judged
        self.hop: Hop | None = None  # its place in the request's trace; None: nobody is traced
        # It matters where somebody else could be asked; of an answer that comes whole the first token is not seen.
        self.expected_s = choice.alone_s if wire.is_shared and routing_request.streams else 0.0
        self.choice = choice
        is_loading = adapter is not None and upstream.adapters.nearness(wire.replica, adapter)
        # How long an adapter takes to load says nothing of the pool's pace.
        is_tracked = not choice.is_repeated and not is_loading
        plan, forecast = choice.kv_plan, choice.forecast
        if plan is not None:
            plan = upstream.kv.usable(choice, wire, routing_request) if earns else None
            if plan is None:
                forecast = upstream.router.forecast(routing_request, replica_id, now_s)
        self._ticket = None
        if is_tracked:
            withheld = choice.kv_withheld
            self._ticket = upstream.router.start(routing_request, forecast, now_s, plan, kv_withheld=withheld)
        self._replica_health = upstream.selector.health.of(replica_id)
        self._trial = self._replica_health.on_start(now_s, routing_request.prompt_tokens if earns else 0)
        upstream.limit.occupy(replica_id)
        self._needs: AttemptNeeds | None = None  # None: nothing that is to be waited for
        if adapter is not None or wire.has_kv or isinstance(call, LargeCall):
            kv = None
            if wire.has_kv and request.operation in GENERATES:
                kv = upstream.kv.use(
                    wire, plan, routing_request, forecast=forecast, request_id=request.id, ticket=self._ticket
                )
            self._needs = AttemptNeeds(self, upstream, wire, adapter, kv)
            if is_loading or (kv is not None and kv.plan is not None):
                self.asked_at_s = NOT_YET

    def start(self, *, fresh: bool = False) -> None:
        """Ask for a connection, once the replica has all that it needs; `fresh` insists on a new one."""
        if self._needs is not None and not fresh:
            self._needs.meet(self._call)
        else:
            self._upstream.pool.lend(self.wire.address, self._connected, self._unconnected, fresh=fresh)

    def again(self, call: EngineRequest | LargeCall) -> None:
        """Ask the same replica the next thing it takes to answer."""
        self._call, self._pieces, self._pieces_bytes, self.status = call, [], 0, 0
        self.start()

    def end(self, outcome: Outcome, *, output_tokens: int = 0, cached_tokens: int | None = None) -> Try:
        """Over, once: the connection is cut if it still works on this, and what it showed is learned from.

        What the record and the trace have of it is returned.
        """
        upstream, wire = self._upstream, self.wire
        now_s = upstream.clock()
        span_id = self.hop.span_id if self.hop is not None else 0
        ended = Try(
            wire.replica,
            self.began_at_s,
            self.sent_at_s,
            now_s,
            status=self.status,
            outcome=outcome,
            first_at_s=self.first_at_s,
            span_id=span_id,
        )
        if self.is_over:
            return ended
        self.is_over = True
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.cancel()
        if self.work is not None:
            self.work.cancel()
        if self._needs is not None:
            self._needs.end(now_s, is_answered=outcome is SUCCESS)
        if self._ticket is not None:
            self._ticket.end(
                now_s, output_tokens=output_tokens, cached_tokens=cached_tokens, is_complete=outcome is SUCCESS
            )
        self._replica_health.on_end(outcome, now_s, self._trial)
        upstream.limit.vacate(wire.replica_id)
        self.relay = None  # it points back here, and cycles are seldom looked for
        return ended

    def wait_for(self, work: PendingWork) -> None:
        """All of its answer has come and is judged: the replica is silent by right, and its connection another's."""
        self._connection, self.work, self.heard_at_s = None, work, NOT_YET

    def first_token(self, now_s: float) -> None:
        """What the client waits for has begun to come."""
        self.first_at_s = now_s
        if self._ticket is not None:
            self._ticket.first_token(now_s)
        if self.expected_s or self._trial:
            self._replica_health.on_first_token(now_s, self.expected_s, now_s - self.asked_at_s, self._trial)

    def hold_back(self, retry_after_s: float) -> None:
        """The body of its refusal says when the replica may be asked again."""
        if self.wire.tells_limits and self.retry_after is None:
            told = ToldLimits(retry_after_s=retry_after_s)
            self._replica_health.on_limits(told, self._upstream.clock(), is_refusal=True)

    def outrun(self, now_s: float) -> Try:
        """Another attempt was faster."""
        self._replica_health.on_first_token(now_s, self.expected_s, now_s - self.asked_at_s, self._trial)
        return self.end(CANCELLED)

    def hedge_after_s(self) -> float:
        """How long the first token alone is worth waiting for, where it is known what is usual."""
        return self._replica_health.hedge_after_s(self.expected_s)

    def pause(self) -> None:
        """Whoever takes the answer cannot keep up."""
        self._is_paused = True
        if self._connection is not None:
            self._connection.pause()

    def resume(self) -> None:
        """It can again."""
        self._is_paused = False
        self.heard_at_s = self._upstream.clock()
        if self._connection is not None:
            self._connection.resume()

    @property
    def not_carried(self) -> Sequence[str]:
        """By path, hints of the request that the replica's engine was not told."""
        call = self._call
        return () if isinstance(call, LargeCall) else call.not_carried

    def silent_since_s(self) -> float:
        """When the replica was last heard of."""
        relay = self.relay
        return max(relay.last_at_s, self.heard_at_s) if relay is not None else self.heard_at_s

    def check(self, now_s: float) -> None:
        """Notice that what the replica was told of does not come."""
        if self._needs is not None:
            self._needs.check(now_s)

    @property
    def kv(self) -> KvUse | None:
        """What it has to do with KV; None: nothing."""
        return None if self._needs is None else self._needs.kv

    # Called by what it needs.

    def has_needs(self, call: EngineRequest) -> None:
        self._call = call
        self.asked_at_s = self.heard_at_s = self._upstream.clock()
        self._upstream.pool.lend(self.wire.address, self._connected, self._unconnected)

    def lacks(self, error: EngineError) -> None:
        self._owner.attempt_failed(self, error)

    def has_no_call(self, error: HeterodyneError) -> None:
        self._owner.attempt_unsent(self, error)

    def ask_plainly(self, call: EngineRequest) -> None:
        """The same replica once more, without the KV that it was told of."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.cancel()
        self.relay = None
        self.again(call)

    # Called by the connection pool.

    def _connected(self, connection: ClientConnection) -> None:
        if self.is_over:
            connection.release()
            return
        assert not isinstance(self._call, LargeCall)
        self._connection = connection
        self.sent_at_s = self._upstream.clock()
        if self._needs is not None and self._needs.kv is not None:
            self._needs.kv.sent(self.sent_at_s)
        call = self._call
        trace_lines = b"" if self.hop is None else self.hop.lines
        head = self.wire.request_head(call.path, self._request_id, call.body, trace_lines, call.media_type)
        connection.send(self, head, call.body)
        if self._is_paused:
            connection.pause()

    def _unconnected(self, error: WireError) -> None:
        if not self.is_over:
            self._owner.attempt_failed(self, engine_error(error))

    # Called by the engine connection.

    def on_head(self, status: int, headers: dict[bytes, bytes]) -> None:
        self.status = status
        self.heard_at_s = self._upstream.clock()
        if self.wire.tells_limits and (told := self.wire.dialect.limits(status, headers)) is not None:
            self._replica_health.on_limits(told, self.heard_at_s, is_refusal=status in BUSY)
        media_type = headers.get(b"content-type", b"")
        if status == 200 and (self._passes or media_type.startswith(STREAMS)):
            self.media_type = media_type
            self.relay = relay = self._owner.attempt_streams(self)
            if relay is not None and self._connection is not None:
                needs = self._needs
                if needs is not None and needs.is_kv_pending:
                    self._connection.listener = KvGate(self._connection, relay, needs)
                else:
                    self._connection.listener = FramedEvents(relay, self) if media_type == AMAZON_EVENTS else relay
        elif status != 200:
            self.retry_after = headers.get(b"retry-after")

    def on_framed(self, data: bytes, chunks: int) -> None:
        self.on_payload(unframe(data))
        if self._connection is not None:
            self._connection.rest(data)

    def on_payload(self, data: bytes) -> None:
        """A piece of a whole answer; streams go to their relay."""
        self.heard_at_s = self._upstream.clock()
        self._pieces_bytes += len(data)
        if self._pieces_bytes > self._upstream.answer_bytes_max:
            error = EngineGarbage("The engine's answer is larger than `gateway.answer_bytes_max`.")
            self._owner.attempt_failed(self, error)
            return
        self._pieces.append(data)

    def on_end(self) -> None:
        self._connection = None
        if self._needs is None or not self._needs.distrusts(self.status):
            self._owner.attempt_answered(self, self._pieces)

    def on_failure(self, error: WireError) -> None:
        connection, self._connection = self._connection, None
        if self.status == 0 and connection is not None and connection.requests_sent > 1 and not connection.has_answered:
            # A kept connection that the engine closed as we wrote to it says nothing about the engine.
            self.sent_at_s = 0.0
            self.start(fresh=True)
            return
        self._owner.attempt_failed(self, engine_error(error))

    # Called by the relay of a stream.

    def stream_begins(self) -> None:
        self._owner.attempt_begins(self)

    def stream_complete(self) -> None:
        self._connection = None
        self._owner.attempt_completed(self)

    def stream_broken(self, error: EngineError) -> None:
        self._owner.attempt_failed(self, error)

    def stream_stopped(self, error: HeterodyneError | None) -> None:
        self._owner.attempt_stopped(self, error)
