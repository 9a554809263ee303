"""An engine whose every byte is scripted: a real HTTP server on loopback for tests of whatever calls engines.

async with ScriptedEngine(behaviours.stream(tokens=5)) as engine:
    ...  # engine.url answers; engine.calls is what it was asked
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Self

import httptools
import msgspec

Behaviour = Callable[["EngineCall"], Awaitable[None]]


class EngineCall:
    """One request the engine received, and the means to answer it any way at all."""

    def __init__(self, transport: asyncio.Transport, path: str, headers: dict[str, str], body: bytes) -> None:
        self._transport = transport
        self.path = path
        self.headers = headers
        self.body = body
        self.was_cancelled = False  # the caller closed before the answer was complete
        self.is_answered = False
        self.is_overtaken = False  # the caller has sent its next request: the connection is that one's

    @property
    def json(self) -> dict[str, object]:
        """The body, decoded."""
        return msgspec.json.decode(self.body, type=dict[str, object])

    def write(self, data: bytes) -> None:
        """Raw bytes, no framing added."""
        self._transport.write(data)

    def chunk(self, payload: bytes) -> None:
        """One chunk of a chunked body."""
        self.write(b"%x\r\n%b\r\n" % (len(payload), payload))

    def event(self, data: object) -> None:
        """One server-sent event in a chunk of its own; bytes are sent as they are."""
        encoded = data if isinstance(data, bytes) else msgspec.json.encode(data)
        self.chunk(b"data: " + encoded + b"\n\n")

    def head(self, status: int = 200, *headers: str) -> None:
        """Status line and headers."""
        lines = "".join(f"{header}\r\n" for header in headers)
        self.write(f"HTTP/1.1 {status} Scripted\r\n{lines}\r\n".encode())

    def whole(self, status: int, body: object, *headers: str) -> None:
        """A complete JSON answer."""
        encoded = body if isinstance(body, bytes) else msgspec.json.encode(body)
        self.head(status, "content-type: application/json", f"content-length: {len(encoded)}", *headers)
        self.write(encoded)

    @property
    def unsent_bytes(self) -> int:
        """Written here and not yet taken by the caller's side."""
        return self._transport.get_write_buffer_size()

    async def drain(self) -> None:
        """Wait until the caller has taken what was written, as an engine with a bounded buffer does."""
        while self.unsent_bytes and not self.was_cancelled:
            await asyncio.sleep(0.001)

    def close(self) -> None:
        """Send what was written, then FIN, unless the connection is another call's by now."""
        if not self.is_overtaken:
            self._transport.close()

    def reset(self) -> None:
        """Drop the connection at once, unless it is another call's by now."""
        if not self.is_overtaken:
            self._transport.abort()


class ScriptedEngine:
    """Answers GETs as a healthy engine does and POSTs by its behaviour, which may be replaced at any time."""

    def __init__(
        self, behaviour: Behaviour, *, model: str = "scripted", host: str = "127.0.0.1", port: int = 0
    ) -> None:
        self.behaviour = behaviour
        self.is_healthy = True
        self.calls: list[EngineCall] = []
        self.connections: set[_Connection] = set()
        self.connections_made = 0
        self.tasks: set[asyncio.Task[None]] = set()
        self._model = model
        self._server: asyncio.Server | None = None
        self._host = host
        self.port = port  # 0: a free one, until it listens

    @property
    def url(self) -> str:
        return f"http://{self._host}:{self.port}"

    async def open(self) -> None:
        """Listen; on the same port as before after `close`."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self), self._host, self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Drop every connection and stop listening."""
        if self._server is not None:
            self._server.close()
        for connection in tuple(self.connections):
            connection.drop()
        for task in tuple(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def answer_get(self, call: EngineCall) -> None:
        """Health and models."""
        if not self.is_healthy:
            call.whole(503, {"error": {"message": "not healthy"}})
        elif call.path.endswith("/models"):
            call.whole(200, {"object": "list", "data": [{"id": self._model, "object": "model"}]})
        else:
            call.whole(200, {"status": "ok"})


class _Connection(asyncio.Protocol):
    def __init__(self, engine: ScriptedEngine) -> None:
        self._engine = engine
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._call: EngineCall | None = None
        self._path = b""
        self._headers: dict[str, str] = {}
        self._body = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # uvloop's do not inherit from asyncio's
        self._engine.connections.add(self)
        self._engine.connections_made += 1

    def data_received(self, data: bytes) -> None:
        with contextlib.suppress(httptools.HttpParserError):
            self._parser.feed_data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._engine.connections.discard(self)
        if self._call is not None and not self._call.is_answered:
            self._call.was_cancelled = True

    def drop(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def on_message_begin(self) -> None:
        self._path, self._headers, self._body = b"", {}, b""

    def on_url(self, url: bytes) -> None:
        self._path += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode().lower()] = value.decode()

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        assert self._transport is not None
        call = EngineCall(self._transport, self._path.decode(), self._headers, self._body)
        if self._parser.get_method() == b"GET":
            self._engine.answer_get(call)
            return
        if self._call is not None:
            self._call.is_overtaken = True
        self._call = call
        self._engine.calls.append(call)
        task = asyncio.get_running_loop().create_task(self._behave(call))
        self._engine.tasks.add(task)
        task.add_done_callback(self._engine.tasks.discard)

    async def _behave(self, call: EngineCall) -> None:
        await self._engine.behaviour(call)
        call.is_answered = not call.was_cancelled
