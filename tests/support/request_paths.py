"""The parts of the request path over replicas in memory: real collaborators, and a clock that a test sets."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from heterodyne.admission.callers import LOCAL
from heterodyne.admission.concurrency_limit import ConcurrencyLimit
from heterodyne.admission.hold import Hold
from heterodyne.admission.tokens import TokenEstimator
from heterodyne.batches.settings import BatchSettings
from heterodyne.domain.errors import HeterodyneError, StoreUnavailable
from heterodyne.domain.fleet import FleetSnapshot, ModelRule, Replica, ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.provider_limit import ToldLimits
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.request import Request
from heterodyne.engines.catalogue import DIALECTS
from heterodyne.gateway.attempt import Attempt
from heterodyne.gateway.client_answer import ClientAnswer
from heterodyne.gateway.exchange import Exchange, ExchangeOwner
from heterodyne.gateway.fleet_view import FleetView
from heterodyne.gateway.forms.form import ClientForm
from heterodyne.gateway.forms.passing import OPENAI
from heterodyne.gateway.kv.engine_asker import EngineAsker
from heterodyne.gateway.kv.transfers import KvTransfers
from heterodyne.gateway.offload.job import HEAD, decode_job, encode
from heterodyne.gateway.offload.large import LargeCall
from heterodyne.gateway.offload.perform import perform
from heterodyne.gateway.offload.process import Offload
from heterodyne.gateway.private_fields import PrivateFields
from heterodyne.gateway.race import Race
from heterodyne.gateway.render import IdentityHeaders
from heterodyne.gateway.request_log import RequestLog
from heterodyne.gateway.routing_request_builder import RoutingRequestBuilder
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.gateway.stored.content_places import ContentPlaces
from heterodyne.gateway.stored.documents import Documents, OpenedStore
from heterodyne.gateway.stored.files.files import Files
from heterodyne.gateway.stored.files.staging import Staging
from heterodyne.gateway.stored.room import StoredRoom
from heterodyne.gateway.upstream import Place, Upstream
from heterodyne.ports.engine import DeliveredText, EngineDialect, EventEdit
from heterodyne.ports.engine_request import EngineRequest
from heterodyne.routing.fallback import FallbackRouter
from heterodyne.routing.health.fleet_health import FleetHealth
from heterodyne.routing.router import Router
from heterodyne.routing.routing_choice import SAMPLES_MIN, RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.routing.settings import RoutingSettings
from heterodyne.stores.files.folder import FolderContents
from heterodyne.telemetry.tracing.context import Hop, Trace
from heterodyne.testing.behaviours import chat_event
from heterodyne.testing.memory_transport import MemoryTransport
from heterodyne.wire.connection_pool import ConnectionPool
from heterodyne.wire.message import chunk
from tests.support import requests
from tests.support.attempt_owners import AdapterClaims, RecordingOwner
from tests.support.memory_network import MemoryClient, MemoryNetwork
from tests.support.replica_states import ROUND, even, replica, routing_request

NOW_S, WALL_S = 100.0, 1_700_000_000.0
STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
STREAM_END = chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n"
ROUTING, SETTINGS = RoutingSettings(), GatewaySettings()
CALL = EngineRequest("/v1/chat/completions", b'{"model":"m"}')
BODY = requests.chat_body(model="m", stream=True)


class SetClock:
    """Stands still between two calls of `pass_s`."""

    def __init__(self) -> None:
        self.now_s = NOW_S

    def __call__(self) -> float:
        return self.now_s

    def pass_s(self, seconds: float) -> None:
        self.now_s += seconds


class MistakenDialect:
    """An engine's words with a mistake of ours in each answer, and in the call of the request `mistaken`."""

    name, health_path = "mistaken", "/"
    tells_limits = False
    client_fields: frozenset[str] = frozenset()

    def header_lines(self, key: str) -> bytes:
        return b""

    def call(self, request: Request, replica: Replica) -> EngineRequest:
        if request.id == "mistaken":
            raise ZeroDivisionError
        return CALL

    def answer(self, request: Request, replica: Replica, body: bytes) -> bytes | EngineRequest:
        raise ZeroDivisionError

    def stream_edit(self, request: Request) -> EventEdit | None:
        return None

    def refusal(self, request: Request, status: int, body: bytes) -> HeterodyneError:
        raise ZeroDivisionError

    def limits(self, status: int, headers: Mapping[bytes, bytes]) -> ToldLimits | None:
        return None

    def continuation(self, request: Request, delivered_text: DeliveredText) -> Request | None:
        return None


class Records:
    """Keeps what is written down."""

    is_off = False

    def __init__(self) -> None:
        self.written: list[RequestRecord] = []

    def write(self, records: Sequence[RequestRecord]) -> None:
        self.written.extend(records)


async def _no_store() -> OpenedStore:
    raise StoreUnavailable("There is no store here.")


class RequestPath:
    """One worker's upstream and what is made for each request; replicas are known by their ports."""

    def __init__(
        self,
        *replicas: Replica,
        rules: dict[str, ModelRule] | None = None,
        routing: RoutingSettings = ROUTING,
        answer_bytes_max: int = 1 << 20,
        place: Place | None = None,
        dialects: dict[str, EngineDialect] = DIALECTS,
        adapters: AdapterClaims | None = None,
        hop: Callable[[Trace], Hop] | None = None,
    ) -> None:
        self.clock = clock = SetClock()
        self.network = MemoryNetwork(clock)
        self.adapters = adapters or AdapterClaims()
        snapshot = FleetSnapshot.of(1, replicas, rules)
        fleet = FleetView(dialects, snapshot)
        router = Router(snapshot, prior_of=lambda _: ROUND, chance=even, now_s=clock())
        self.health = FleetHealth(routing, snapshot, clock())
        limit = ConcurrencyLimit(1024, 1)
        self.upstream = Upstream(
            fleet=fleet,
            kv=KvTransfers(
                fleet,
                EngineAsker(ConnectionPool(self.network)),
                limit=limit,
                health=lambda: self.health,
                files={},
                pinned=router.fabric.pinned,
                on_held=router.on_warmed_up,
                clock=clock,
                room=lambda: 7,
            ),
            selector=FallbackRouter(
                snapshot, self.health, router, fields=PrivateFields(fleet), nearness=self.adapters.nearness, chance=even
            ),
            router=router,
            limit=limit,
            pool=ConnectionPool(self.network),
            adapters=self.adapters,
            offload=Offload("no_module", clock),
            place=place,
            hop=hop,
            answer_bytes_max=answer_bytes_max,
            clock=clock,
        )
        self._beside = MemoryTransport(self.upstream.offload)
        self.identity = IdentityHeaders(lambda: WALL_S)
        documents, folder = Documents(_no_store, GatewaySettings, BatchSettings, lambda: WALL_S), Path("no-folder")
        self.stored = StoredRoom(
            documents, Files(documents, FolderContents(folder), Staging(folder), GatewaySettings), ContentPlaces()
        )
        self.records = Records()
        tokens = TokenEstimator()
        self.builder = RoutingRequestBuilder(tokens)
        self.request_log = RequestLog(
            self.records, self.builder, decisions_kept=0, clock=clock, wall_clock=lambda: WALL_S
        )

    def learn_ttft(self, name: str) -> None:
        """How long a first token usually takes on the replica: as long as was thought."""
        for _ in range(SAMPLES_MIN):
            choice = self.choice(name)
            ticket = self.upstream.router.start(routing_request(), choice.forecast, self.clock())
            self.clock.pass_s(choice.forecast.ttft_s)
            ticket.first_token(self.clock())
            ticket.end(self.clock(), output_tokens=1)

    def choice(self, name: str = "a", asked: RoutingRequest | None = None) -> RoutingChoice:
        """That replica, and no other."""
        wire = self.upstream.fleet.wire(ReplicaId(name))
        asked = asked or routing_request()
        return self.upstream.router.decide(asked, (wire.replica,), self.clock())

    def attempt(
        self, owner: RecordingOwner, request: Request | None = None, call: EngineRequest | LargeCall = CALL
    ) -> Attempt:
        """On replica `a`, not started yet."""
        asked = routing_request()
        choice = self.choice("a", asked)
        return Attempt(owner, self.upstream, choice, call, request or chat(), routing_request=asked, earns=True)

    def race(self, request: Request | None = None, *, trace: Trace | None = None) -> Race:
        return Race(self.upstream, request or chat(), routing_request(), LOCAL, trace)

    def racing(self, owner: RecordingOwner, **facts: object) -> Race:
        """A race whose first attempt, on `a`, was sent."""
        race = self.race(chat(**facts))
        race.ask(owner, self.choice(), CALL, earns=True)
        self.network.turn()
        return race

    def answer(
        self, client: MemoryClient, request: Request, hold: Hold | None = None, form: ClientForm = OPENAI
    ) -> ClientAnswer:
        return ClientAnswer(
            client.connection,
            request,
            hold or Hold(LOCAL, self.clock()),
            self.identity,
            form,
            keeper=self.stored.keeper,
        )

    def exchange(
        self,
        owner: ExchangeOwner,
        client: MemoryClient,
        request: Request | None = None,
        settings: GatewaySettings = SETTINGS,
    ) -> Exchange:
        """The client is answered by it, once it is started."""
        race = self.race(request)
        exchange = Exchange(owner, self.request_log, settings, self.answer(client, race.request), race)
        client.connection.hand_over(exchange)
        return exchange

    def do_jobs(self) -> None:
        """What the process beside the worker has been given, by the code that it runs."""
        self.network.turn()
        while given := self._beside.written:
            self._beside.written = b""
            end = HEAD.size + HEAD.unpack_from(given)[0]
            result, made = perform(decode_job(given[HEAD.size : end]), given[end:], DIALECTS)
            encoded = encode(result)
            with self.network.running():
                self._beside.feed(HEAD.pack(len(encoded), len(made)) + encoded + made)
            self.network.turn()

    def engine(self, name: str = "a", index: int = -1) -> MemoryTransport:
        """The replica's end of a connection, the latest unless said otherwise."""
        return self.network.connections[self.upstream.fleet.wire(ReplicaId(name)).replica.port][index]

    def outcomes(self, name: str = "a") -> list[str]:
        """What attempts on the replica have ended as."""
        counted = self.health.of(ReplicaId(name)).snapshot(self.clock()).outcomes
        return [outcome for outcome, count in counted.items() for _ in range(count)]


def replicas(*names: str, **facts: object) -> tuple[Replica, ...]:
    """Of one pool, each at a port of its own."""
    return tuple(replica(name, **{"port": 1 + ord(name[0]) - ord("a"), **facts}) for name in names)


def chat(**facts: object) -> Request:
    """A streamed chat with ten minutes' time."""
    said = {"id": "req_1", "operation": Operation.CHAT, "model": "m", "body": BODY, "stream": True, **facts}
    return Request(**{"deadline_s": NOW_S + 600.0, **said})  # type: ignore[arg-type]


def token(word: str = "x", finish_reason: str | None = None) -> bytes:
    """A chunk with one event of a chat's stream."""
    return chunk(b"data: %b\n\n" % msgspec.json.encode(chat_event(word, finish_reason=finish_reason)))


def whole(body: bytes, status: int = 200, *headers: str) -> bytes:
    """An engine's answer that comes whole."""
    lines = "".join(f"{header}\r\n" for header in ("content-type: application/json", *headers))
    return f"HTTP/1.1 {status} X\r\n{lines}content-length: {len(body)}\r\n\r\n".encode() + body
