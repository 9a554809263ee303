"""A whole gateway with everything that counts switched on, for tests that drive it any way at all.

Two pools of scripted engines serve one model, a third a model of its own; every caller has limits; books and records
are kept. Steps are plain values, so that a failing sequence can be printed and played again.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from heterodyne.admission.settings import AdmissionSettings
from heterodyne.assembly.gateway import running_gateway
from heterodyne.books.flight_slots import FlightSlots
from heterodyne.books.segment import read_batches, segments
from heterodyne.books.spool import UsageSpool
from heterodyne.config.settings import Settings
from heterodyne.domain.errors import StoreUnavailable
from heterodyne.domain.fleet import Replica
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.tenant import Limits, TenantSnapshot
from heterodyne.domain.usage import UsageRecord
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.gateway.usage_recorder import UsageRecorder
from heterodyne.ports.leases import LeaseAnswer, LeaseCall
from heterodyne.routing.settings import RoutingSettings
from heterodyne.stores.leases.memory import MemoryLeases
from heterodyne.supervisor.configured_replicas import model_rules, remote_replicas
from heterodyne.supervisor.workers.live_gateway import LiveGateway
from heterodyne.telemetry.settings import TelemetrySettings
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import EngineCall, ScriptedEngine
from tests.support.raw_client import RawClient, connected
from tests.support.requests import MODEL, post
from tests.support.tenants import bearer, caller, tenants

OTHER = "other"
WORD = " hello"
CONTEXT_TOKENS = 2048
PROMPT_TOKENS = 7  # as the engines count any prompt
KEYS = ("gold", "iron")
ENGINES = 5
PATHS = {
    "chat": "/v1/chat/completions",
    "completion": "/v1/completions",
    "embedding": "/v1/embeddings",
    "tokenize": "/tokenize",
    "infer": f"/v2/models/{MODEL}/infer",
}
LONG_S = 60.0


class Fate(Struct, frozen=True):
    """What an engine does with its next requests."""

    status: int = 200
    tokens: int = 3
    each: int = 1  # tokens of an event
    delay_s: float = 0.0
    pace_s: float = 0.0
    ending: str = "whole"  # or "close", "reset", "garbage", "hang", "error"; of a stream in the middle
    counts: bool = True  # says its usage


class Asked(Struct, frozen=True):
    """One request and how its client behaves."""

    route: str = "chat"
    model: str = MODEL
    key: str = KEYS[0]
    stream: bool = True
    prompt_chars: int = 10
    max_tokens: int | None = None
    choices: int = 1
    urgency: str = ""
    deadline_ms: int | None = None
    broken: str = ""  # "json", "field", "half"
    times: int = 1  # one after another on its connection, all sent at once
    leaves_after_s: float | None = None
    leaves_after_events: int | None = None


class Behave(Struct, frozen=True):
    """An engine changes its ways."""

    engine: int
    fate: Fate


class Reload(Struct, frozen=True):
    """Another fleet, other settings, other limits."""

    present: tuple[int, ...] = (0, 1, 2, 3, 4)  # engines in the fleet
    draining: tuple[int, ...] = ()
    in_flight_max: int | None = None  # of a replica
    concurrency_limit: int = 1000
    queue_max: int = 100
    ejection_failures: int = 5
    policy: str = "slo"
    slo_ttft_ms: float | None = None
    concurrent: int | None = None  # limit of each key's project


class Outage(Struct, frozen=True):
    """An engine refuses connections for a while."""

    engine: int
    lasts_s: float


class LeasesAway(Struct, frozen=True):
    """The counters of limits do not answer for a while."""

    lasts_s: float


class Pause(Struct, frozen=True):
    """Time passes."""

    s: float


Step = Asked | Behave | Reload | Outage | LeasesAway | Pause


class Seen(Struct):
    """What one client saw of its request."""

    asked: Asked
    status: int = 0
    id: str = ""
    words: int = 0
    events: int = 0  # of a stream, without the one that says what went wrong
    is_done: bool = False
    is_broken: bool = False  # the stream ended with an error
    has_left: bool = False


class World:
    """One life of it."""

    def __init__(self, folder: Path) -> None:
        self.seen: list[Seen] = []
        self.sent: Counter[str] = Counter()  # events that engines sent, by request
        self.leases = MemoryLeases()
        self._source = _DistantLeases(self.leases)
        self.records: list[RequestRecord] = []  # once it is over
        self.booked: list[UsageRecord] = []
        self._folder = folder
        self._engines = [_Engine(self, OTHER if number == ENGINES - 1 else MODEL) for number in range(ENGINES)]
        self._tasks: list[asyncio.Task[None]] = []
        self._version = 1
        self.gateway: LiveGateway | None = None
        self.is_over = False

    async def play(self, steps: list[Step], end: str) -> None:
        """Everything from beginning to end; afterwards the gateway has closed."""
        async with self._running() as gateway:
            self.gateway = gateway
            for step in steps:
                await self._take(gateway, step)
            if end == "quiet":
                await self._settle()
                await self._wait_empty(gateway)
            elif end == "drain":
                await gateway.server.drain()
        await self._settle()
        await self._wait_empty(gateway)
        self._read()

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[LiveGateway]:
        for engine in self._engines:
            await engine.scripted.open()
        slots = FlightSlots(self._folder / "worker.1.slots", 512)
        spool = UsageSpool(self._folder, "worker", "1", slots)
        spool.start()
        settings, replicas = self._fleet(Reload())
        try:
            async with running_gateway(
                settings,
                replicas,
                rules=model_rules(settings),
                tenants=_tenants(Reload(), 1),
                leases=self._source,
                usage_recorder=UsageRecorder(slots, spool),
            ) as gateway:
                async with asyncio.timeout(LONG_S):
                    while gateway.takeable() < ENGINES:
                        await asyncio.sleep(0.005)
                yield gateway
                self._source.is_away = False
        finally:
            spool.close()
            self.is_over = True
            for engine in self._engines:
                await engine.scripted.close()

    async def _take(self, gateway: LiveGateway, step: Step) -> None:
        match step:
            case Asked():
                self._start(self._ask(gateway.server.port, step))
                await asyncio.sleep(0)
            case Behave():
                self._engines[step.engine].fate = step.fate
            case Reload():
                self._version += 1
                settings, replicas = self._fleet(step)
                tenants = _tenants(step, self._version)
                gateway.apply(settings, replicas, model_rules(settings), self._version, tenants)
            case Outage():
                self._start(self._engines[step.engine].fall(step.lasts_s))
            case LeasesAway():
                self._start(self._source.fall(step.lasts_s))
            case Pause():
                await asyncio.sleep(step.s)

    def _start(self, life: Coroutine[None, None, None]) -> None:
        self._tasks.append(asyncio.create_task(life))

    async def _settle(self) -> None:
        async with asyncio.timeout(LONG_S):
            await asyncio.gather(*self._tasks)

    async def _wait_empty(self, gateway: LiveGateway) -> None:
        try:
            async with asyncio.timeout(30):
                while (held := gateway.server.snapshot()).held.left or held.body_bytes:
                    await asyncio.sleep(0.01)
        except TimeoutError:
            held = gateway.server.snapshot()
            raise AssertionError(f"held for nobody: {held.held.left}, {held.body_bytes} bytes of bodies") from None

    def _fleet(self, reload: Reload) -> tuple[Settings, tuple[Replica, ...]]:
        urls = {number: self._engines[number].scripted.url for number in reload.present}
        by_pool = {"near": (0, 1), "far": (2, 3), OTHER: (4,)}
        pools = {
            name: PoolSettings(
                model=OTHER if name == OTHER else MODEL,
                engine="openai" if name == OTHER else "vllm",
                urls=tuple(urls[number] for number in numbers if number in urls),
                in_flight_max=reload.in_flight_max,
                context_tokens=CONTEXT_TOKENS if name == "near" else 2 * CONTEXT_TOKENS,
                adapters={"law": "/srv/law", "art": "/srv/art"} if name == "near" else {},
                adapters_max=1,
                price_usd_per_hour=None if name == "far" else 3.6,
                price_usd_per_million_prompt_tokens=1e3 if name == "far" else None,
                price_usd_per_million_completion_tokens=2e3 if name == "far" else None,
            )
            for name, numbers in by_pool.items()
            if any(number in urls for number in numbers)
        }
        settings = Settings(
            gateway=GatewaySettings(
                port=0,
                first_byte_timeout_s=0.4,
                stall_timeout_s=0.4,
                deadline_default_s=4.0,
                connect_timeout_s=0.5,
                drain_timeout_s=0.3,
                continuation_bytes_max=4096,
            ),
            admission=AdmissionSettings(in_flight_max=reload.concurrency_limit, queue_max=reload.queue_max),
            routing=RoutingSettings(ejection_failures=reload.ejection_failures, hedge_share=0.5, hedge_min_s=0.02),
            models={
                MODEL: ModelSettings(
                    policy=reload.policy, slo_ttft_ms=reload.slo_ttft_ms, aliases=("alias",), fallbacks=(OTHER,)
                )
            },
            telemetry=TelemetrySettings(records=str(self._folder / "records.jsonl"), log_level="error"),
            pools=pools,
        )
        draining = {urls[number].rpartition(":")[2] for number in reload.draining if number in urls}
        return settings, tuple(
            structs.replace(one, is_draining=str(one.port) in draining) for one in remote_replicas(settings)
        )

    async def _ask(self, port: int, asked: Asked) -> None:
        each = [Seen(asked) for _ in range(asked.times)]
        self.seen += each
        request = _bytes(asked)
        try:
            async with connected(port) as client, asyncio.timeout(asked.leaves_after_s):
                if asked.broken == "half":
                    await client.send(request[: len(request) // 2])
                    await asyncio.sleep(0.05)
                    client.leave()
                    return
                await client.send(request * asked.times)
                for seen in each:
                    await self._talk(client, asked, seen)
        except TimeoutError:
            for seen in each:
                seen.has_left = True
        except (ConnectionError, asyncio.IncompleteReadError):
            for seen in each:  # the gateway has ended, or the connection with an answer that could not
                seen.is_broken = True

    async def _talk(self, client: RawClient, asked: Asked, seen: Seen) -> None:
        status, headers = await client.head()
        seen.status, seen.id = status, headers.get("x-request-id", "")
        if "text/event-stream" not in headers["content-type"]:
            seen.words = (await client.body(headers)).count(WORD.encode())
            seen.is_done = True
            return
        async for chunk in client.chunks():
            for event in chunk.split(b"\n\n")[:-1]:
                self._hear(event, seen)
            if asked.leaves_after_events is not None and seen.events >= asked.leaves_after_events:
                client.leave()
                raise TimeoutError

    @staticmethod
    def _hear(event: bytes, seen: Seen) -> None:
        if b'"error"' in event:
            seen.is_broken = True
            return
        seen.events += 1
        seen.words += event.count(WORD.encode())
        seen.is_done = seen.is_done or event.endswith(b"[DONE]")

    def _read(self) -> None:
        path = self._folder / "records.jsonl"
        lines = path.read_bytes().splitlines() if path.exists() else []
        self.records = [msgspec.json.decode(line, type=RequestRecord) for line in lines]
        for segment in segments(self._folder):
            batches, _ = read_batches(segment, 0, 1 << 30)
            self.booked += [record for batch in batches for record in batch.records]


class _DistantLeases:
    """Counters that answer a moment later, or not at all; a call that fails may have been taken all the same."""

    def __init__(self, leases: MemoryLeases) -> None:
        self.is_away = False
        self._leases = leases
        self._calls = 0

    async def fall(self, lasts_s: float) -> None:
        self.is_away = True
        await asyncio.sleep(lasts_s)
        self.is_away = False

    async def exchange(self, call: LeaseCall) -> LeaseAnswer:
        self._calls += 1
        if self.is_away and self._calls % 2:
            raise StoreUnavailable("away")
        answer = await self._leases.exchange(call)
        await asyncio.sleep(0.01)
        if self.is_away:
            raise StoreUnavailable("gone before it answered")
        return answer

    async def leave(self, holder: str) -> None:
        await self._leases.leave(holder)

    async def close(self) -> None:
        await self._leases.close()


class _Engine:
    """A scripted one that does what its fate says, and counts what it sends."""

    def __init__(self, world: World, model: str) -> None:
        self.fate = Fate()
        self.scripted = ScriptedEngine(self._behave, model=model)
        self._world = world

    async def fall(self, lasts_s: float) -> None:
        await self.scripted.close()
        await asyncio.sleep(lasts_s)
        if self._world.is_over:
            return  # a listener that outlives its world keeps the loop from closing
        with contextlib.suppress(OSError):  # two outages may overlap
            await self.scripted.open()

    async def _behave(self, call: EngineCall) -> None:
        fate = self.fate
        await asyncio.sleep(fate.delay_s)
        if call.was_cancelled:
            return
        if call.path.endswith("_lora_adapter"):
            call.whole(fate.status, {})
        elif fate.status != 200:
            call.whole(fate.status, {"error": {"message": "no", "type": "t", "code": None}})
        elif call.json.get("stream"):
            await self._stream(call, fate)
        elif fate.ending == "hang":
            await asyncio.sleep(LONG_S)
        elif fate.ending in ("close", "reset"):
            await behaviours.raw(b"HTTP/1.1 200 OK\r\n", then=fate.ending)(call)
        elif fate.ending == "garbage":
            call.whole(200, b"no JSON")
        else:
            answer = behaviours.chat_answer(
                WORD * fate.tokens, prompt_tokens=PROMPT_TOKENS, completion_tokens=fate.tokens
            )
            call.whole(200, answer)

    async def _stream(self, call: EngineCall, fate: Fate) -> None:
        call.head(200, *behaviours.EVENT_STREAM)
        for number in range(0, fate.tokens, fate.each):
            if call.was_cancelled:
                return
            self._event(call, behaviours.chat_event(WORD * min(fate.each, fate.tokens - number)))
            await asyncio.sleep(fate.pace_s)
        if call.was_cancelled:
            return
        if fate.ending == "hang":
            await asyncio.sleep(LONG_S)
        elif fate.ending == "error":
            call.event({"error": {"message": "gave up"}})
            call.write(b"0\r\n\r\n")
        elif fate.ending != "whole":
            garbage = b"zz\r\nnot a chunk" if fate.ending == "garbage" else b""
            await behaviours.raw(garbage, then="reset" if fate.ending == "reset" else "close")(call)
        else:
            self._event(call, behaviours.chat_event(None, finish_reason="stop"))
            if fate.counts:
                counted = behaviours.usage(PROMPT_TOKENS, fate.tokens)
                call.event({**behaviours.chat_event(None), "choices": [], "usage": counted})
            self._event(call, b"[DONE]")
            call.write(b"0\r\n\r\n")

    def _event(self, call: EngineCall, data: object) -> None:
        self._world.sent[call.headers["x-request-id"]] += 1
        call.event(data)


def project(key: str) -> str:
    """Whose key it is."""
    return f"acme/{key}"


def _tenants(reload: Reload, version: int) -> TenantSnapshot:
    limits = Limits(tokens_per_day=10**9, requests_per_day=10**6, concurrent_requests=reload.concurrent)
    snapshot = tenants(**{key: caller(project(key), limits=limits) for key in KEYS})
    return structs.replace(snapshot, version=version)


def _bytes(asked: Asked) -> bytes:
    text = "x" * asked.prompt_chars
    fields: dict[str, object] = {"model": asked.model}
    match asked.route:
        case "chat":
            fields |= {"messages": [{"role": "user", "content": text}], "stream": asked.stream, "n": asked.choices}
        case "completion":
            fields |= {"prompt": text, "stream": asked.stream}
        case "embedding":
            fields |= {"input": text}
        case "tokenize":
            fields |= {"prompt": text}
        case _:
            fields = {"inputs": [{"name": "x", "shape": [1], "datatype": "INT32", "data": [1]}]}
    if asked.max_tokens is not None:
        fields["max_tokens"] = asked.max_tokens
    if asked.broken == "field":
        fields["stream"] = "perhaps"
    body = b"{" if asked.broken == "json" else msgspec.json.encode(fields)
    headers = [bearer(asked.key)]
    if asked.urgency:
        headers.append(f"x-heterodyne-class: {asked.urgency}")
    if asked.deadline_ms is not None:
        headers.append(f"x-heterodyne-deadline-ms: {asked.deadline_ms}")
    return post(PATHS[asked.route], body, *headers)
