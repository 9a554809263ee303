"""A chat from the console: asks our own gateway as any client would, with a key that only this process knows, and
passes the answer on as it comes. When the browser disconnects, so do we, and the engine stops.

Neither prompts nor answers are logged here, and no error repeats them.
"""

import asyncio
import re
import ssl
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing

import msgspec
from starlette.responses import Response

from heterodyne.concurrency.deadline import deadline_at
from heterodyne.console.errors import TooManyOpen
from heterodyne.console.event_stream import EventStream, event
from heterodyne.console.playground.pages import PlacedEvent, PlaygroundRequest
from heterodyne.console.render import error_shape
from heterodyne.domain.errors import DeadlineExceeded, EngineGarbage, HeterodyneError, InvalidField
from heterodyne.domain.local_address import reachable_host
from heterodyne.domain.routing_rule import Reason
from heterodyne.engines.wire_errors import engine_error
from heterodyne.routing.explanation.why import CHOSEN
from heterodyne.telemetry import log
from heterodyne.wire.address import Address
from heterodyne.wire.chunks import unframe
from heterodyne.wire.client_connection import ClientConnection
from heterodyne.wire.connection_pool import ConnectionPool
from heterodyne.wire.errors import WireError

PATH = "/v1/chat/completions"
ANSWERS_MAX = 16
RETRY_AFTER_S = 5
CONNECT_TIMEOUT_S = 5.0
SLACK_S = 5.0  # over the request's own deadline, which the gateway keeps
BUFFER_BYTES_MAX = 1 << 18  # what a slow browser may leave lying here
REFUSAL_BYTES_MAX = 1 << 20
POOL_NAME = re.compile(r"[\x21-\x7e]{1,200}")

_log = log.get("console")


class GatewayPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where our gateway listens, and how long it lets a request run."""

    host: str
    port: int
    certificate: str | None  # the file it shows; None: it speaks plain HTTP
    deadline_s: float


class Playground:
    """One per console."""

    def __init__(self, place: Callable[[], GatewayPlace], key: str, *, answers_max: int = ANSWERS_MAX) -> None:
        self._place = place
        self._key = key
        self._answers_max = answers_max
        self._open = 0

    @property
    def answers(self) -> int:
        """How many are under way."""
        return self._open

    async def chat(self, chat_request: PlaygroundRequest, who: str) -> Response:
        """The answer as events; raises before the first one where it cannot be asked for."""
        if chat_request.pool is not None and not POOL_NAME.fullmatch(chat_request.pool):
            raise InvalidField("pool: this is not the name of a pool.", param="pool")
        if self._open >= self._answers_max:
            raise TooManyOpen(
                f"{self._answers_max} answers are under way in the playground, as many as may be.",
                retry_after_s=RETRY_AFTER_S,
            )
        _log.info("playground_asked", who=who, what=str(chat_request))
        return EventStream(self._events(chat_request))

    async def _events(self, chat_request: PlaygroundRequest) -> AsyncGenerator[bytes, None]:
        place = self._place()
        self._open += 1
        try:
            async with aclosing(_relayed(place, self._key, chat_request)) as pieces:
                async for piece in pieces:
                    yield piece
        except HeterodyneError as error:
            yield _failed(error)
        finally:
            self._open -= 1


async def _relayed(place: GatewayPlace, key: str, chat_request: PlaygroundRequest) -> AsyncGenerator[bytes, None]:
    tls = None if place.certificate is None else await asyncio.to_thread(_trusting, place.certificate)
    pool = ConnectionPool(asyncio.get_running_loop(), idle_max=0, connect_timeout_s=CONNECT_TIMEOUT_S, tls=tls)
    answer = _Answer(place.deadline_s + SLACK_S)
    try:
        address = Address(reachable_host(place.host), place.port, tls is not None)
        pool.lend(
            address,
            lambda connection: answer.begin(connection, *_request(address, key, chat_request)),
            answer.on_failure,
        )
        status, headers = await answer.wait_head()
        yield event("placed", msgspec.json.encode(_placed(status, headers)))
        refusal = b""
        async with aclosing(answer.pieces()) as pieces:
            async for piece in pieces:
                if status == 200:
                    yield piece
                else:
                    refusal += piece
                    if len(refusal) > REFUSAL_BYTES_MAX:
                        raise EngineGarbage("The gateway's refusal is too large.")
        if status != 200:
            yield event("error", _one_line(refusal))
    finally:
        await pool.close()


def _trusting(certificate: str) -> ssl.SSLContext:
    """For a connection to ourselves: this very certificate is trusted, by any name."""
    context = ssl.create_default_context(cafile=certificate)
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


def _request(address: Address, key: str, chat_request: PlaygroundRequest) -> tuple[bytes, bytes]:
    words: dict[str, object] = {
        "model": chat_request.model,
        "messages": chat_request.messages,
        "max_tokens": chat_request.max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if chat_request.temperature is not None:
        words["temperature"] = chat_request.temperature
    body = msgspec.json.encode(words)
    host = f"[{address.host}]" if ":" in address.host else address.host
    lines = [
        f"POST {PATH} HTTP/1.1",
        f"host: {host}:{address.port}",
        f"authorization: Bearer {key}",
        "content-type: application/json",
        f"content-length: {len(body)}",
        "connection: close",
    ]
    if chat_request.pool is not None:
        lines.append(f"x-heterodyne-pool: {chat_request.pool}")
    return "\r\n".join([*lines, "", ""]).encode(), body


def _placed(status: int, headers: dict[bytes, bytes]) -> PlacedEvent:
    def header_text(name: bytes) -> str:
        return headers.get(name, b"").decode("latin-1")

    return PlacedEvent(
        request_id=header_text(b"x-heterodyne-request-id"),
        pool=header_text(b"x-heterodyne-pool"),
        replica=header_text(b"x-heterodyne-replica"),
        decision=decision_words(header_text(b"x-heterodyne-decision")),
        steps=tuple(step_words(header_text)),
        status=status,
    )


def step_words(header_text: Callable[[bytes], str]) -> Iterator[str]:
    """What a cascade and a cache have done with the request, as the headers of its answer tell it."""
    model, _, reason = header_text(b"x-heterodyne-cascade").partition("; ")
    if model:
        which = "the cheap model's answer was taken" if model == "cheap" else "the big model was asked"
        yield f"Cascade: {which} ({reason.replace('_', ' ')})."
    kept, age = header_text(b"x-heterodyne-cache"), header_text(b"age")
    if kept == "miss":
        yield "Cache: no answer was kept."
    elif kept:
        near = header_text(b"x-heterodyne-cache-similarity")
        what = (
            f"the answer to a prompt that means the same (similarity {near})" if near else "the same request's answer"
        )
        yield f"Cache: {what}, kept {age} s ago."


def decision_words(header: str) -> str:
    """`only_replica; ttft=34ms; itl=5.0ms` as a sentence; a header of the future is shown as it is."""
    reason, *forecast = header.split("; ")
    if reason not in CHOSEN:
        return header
    named = dict(one.partition("=")[::2] for one in forecast)
    words = []
    if "ttft" in named:
        words.append(f"first token after {named['ttft'].removesuffix('ms')} ms")
    if "itl" in named:
        words.append(f"{named['itl'].removesuffix('ms')} ms a token")
    predicted = f" Predicted: {', '.join(words)}." if words else ""
    return f"Why there: {CHOSEN[Reason(reason)]}.{predicted}"


def _failed(error: HeterodyneError) -> bytes:
    return event("error", msgspec.json.encode(error_shape(error)))


def _one_line(refusal: bytes) -> bytes:
    try:
        return msgspec.json.encode(msgspec.json.decode(refusal))
    except msgspec.DecodeError as error:
        raise EngineGarbage("The gateway refused, and did not say why.") from error


class _Answer:
    """Takes what the gateway sends; a slow browser makes it wait."""

    __slots__ = ("_bytes", "_connection", "_ends_s", "_error", "_head", "_is_ended", "_pieces", "_wake")

    def __init__(self, deadline_s: float) -> None:
        self._ends_s = asyncio.get_running_loop().time() + deadline_s
        self._connection: ClientConnection | None = None
        self._head: tuple[int, dict[bytes, bytes]] | None = None
        self._pieces: deque[bytes] = deque()
        self._bytes = 0
        self._is_ended = False
        self._error: HeterodyneError | None = None
        self._wake = asyncio.Event()

    def begin(self, connection: ClientConnection, head: bytes, body: bytes) -> None:
        self._connection = connection
        connection.send(self, head, body)

    async def wait_head(self) -> tuple[int, dict[bytes, bytes]]:
        while self._head is None:
            await self._wait()
        return self._head

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        while True:
            while self._pieces:
                piece = self._pieces.popleft()
                self._bytes -= len(piece)
                if self._connection is not None and self._bytes < BUFFER_BYTES_MAX:
                    self._connection.resume()
                yield piece
            if self._is_ended:
                return
            await self._wait()

    def on_head(self, status: int, headers: dict[bytes, bytes]) -> None:
        self._head = (status, headers)
        self._wake.set()

    def on_framed(self, data: bytes, chunks: int) -> None:
        self.on_payload(unframe(data))

    def on_payload(self, data: bytes) -> None:
        self._pieces.append(data)
        self._bytes += len(data)
        if self._connection is not None and self._bytes >= BUFFER_BYTES_MAX:
            self._connection.pause()
        self._wake.set()

    def on_end(self) -> None:
        self._is_ended, self._connection = True, None
        self._wake.set()

    def on_failure(self, error: WireError) -> None:
        self._error, self._connection = engine_error(error), None
        self._wake.set()

    async def _wait(self) -> None:
        if self._error is not None:
            raise self._error
        try:
            async with deadline_at(self._ends_s):
                await self._wake.wait()
        except TimeoutError as error:
            raise DeadlineExceeded("The answer was not complete by its deadline.") from error
        self._wake.clear()
