"""A client that sends exactly the bytes it is told to, and takes answers apart without forgiving anything."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

import msgspec

READ_TIMEOUT_S = 30.0


class Answer(NamedTuple):
    """One HTTP answer; header names are lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)

    @property
    def error(self) -> dict[str, Any]:
        """The error, after checking that it has OpenAI's shape and can be traced."""
        body = self.json
        assert set(body) == {"error"}
        assert set(body["error"]) == {"message", "type", "param", "code"}
        assert self.headers["content-type"] == "application/json"
        assert self.headers["x-request-id"].startswith("req_")
        return body["error"]

    @property
    def events(self) -> list[bytes]:
        """The data of every event of a stream."""
        assert self.headers["content-type"].startswith("text/event-stream")
        assert self.body.endswith(b"\n\n")
        return [event.removeprefix(b"data: ") for event in self.body.split(b"\n\n")[:-1]]

    @property
    def text(self) -> str:
        """The content of all events together."""
        decoded = [msgspec.json.decode(event) for event in self.events if event != b"[DONE]"]
        return "".join(event["choices"][0]["delta"].get("content", "") for event in decoded if event.get("choices"))


class RawClient:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self._writer = writer

    async def send(self, *pieces: bytes, pause_s: float = 0.0) -> None:
        """Send the pieces, each as a write of its own."""
        for piece in pieces:
            self._writer.write(piece)
            await self._writer.drain()
            await asyncio.sleep(pause_s)

    async def ask(self, *pieces: bytes) -> Answer:
        """Send one request and read its answer."""
        await self.send(*pieces)
        return await self.answer()

    async def answer(self, timeout_s: float = READ_TIMEOUT_S) -> Answer:
        """The next whole answer."""
        async with asyncio.timeout(timeout_s):
            status, headers = await self.head(timeout_s)
            return Answer(status, headers, await self.body(headers))

    async def head(self, timeout_s: float = READ_TIMEOUT_S) -> tuple[int, dict[str, str]]:
        """The next status line and headers."""
        async with asyncio.timeout(timeout_s):
            lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[:-2]
        version, status, _ = lines[0].split(" ", 2)
        assert version == "HTTP/1.1"
        pairs = [line.split(": ", 1) for line in lines[1:]]
        headers = {name.lower(): value for name, value in pairs}
        assert len(headers) == len(pairs), "a header came twice"
        return int(status), headers

    async def body(self, headers: dict[str, str]) -> bytes:
        """The body that a head announced."""
        if "transfer-encoding" in headers:
            return b"".join([piece async for piece in self.chunks()])
        if "content-length" in headers:
            return await self.reader.readexactly(int(headers["content-length"]))
        return await self.reader.read()

    async def chunks(self) -> AsyncIterator[bytes]:
        """The chunks of a body up to its proper end."""
        while size := int(await self.reader.readuntil(b"\r\n"), 16):
            yield (await self.reader.readexactly(size + 2))[:-2]
        assert await self.reader.readexactly(2) == b"\r\n"

    async def is_closed(self, timeout_s: float = READ_TIMEOUT_S) -> bool:
        """Whether the other side ends the connection in time, with nothing more to say."""
        try:
            async with asyncio.timeout(timeout_s):
                return await self.reader.read(1) == b""
        except (TimeoutError, ConnectionError) as error:
            return isinstance(error, ConnectionError)

    def stop_reading(self) -> None:
        """Take nothing more than what the sockets' buffers hold."""
        self._writer.transport.pause_reading()  # type: ignore[attr-defined]

    def go_on_reading(self) -> None:
        self._writer.transport.resume_reading()  # type: ignore[attr-defined]

    @property
    def socket(self) -> Any:
        """For options that only a socket knows."""
        return self._writer.get_extra_info("socket")

    def stop_writing(self) -> None:
        """Say that nothing more comes."""
        self._writer.write_eof()

    def leave(self) -> None:
        """Go away without a word."""
        self._writer.transport.abort()

    async def close(self) -> None:
        self._writer.close()
        with suppress(ConnectionError):  # the other side may be quicker
            await self._writer.wait_closed()


@asynccontextmanager
async def connected(port: int, *, receive_buffer_bytes: int | None = None) -> AsyncIterator[RawClient]:
    """A client connected to a local port; a small receive buffer makes it a slow one."""
    limit = 65536 if receive_buffer_bytes is None else receive_buffer_bytes
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=limit)
    client = RawClient(reader, writer)
    try:
        yield client
    finally:
        await client.close()


async def ask(port: int, *pieces: bytes) -> Answer:
    """One request on a connection of its own."""
    async with connected(port) as client:
        return await client.ask(*pieces)


@asynccontextmanager
async def speaking(port: int, tls: ssl.SSLContext) -> AsyncIterator[RawClient]:
    """The same over TLS; it leaves without taking leave, as clients do."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls, server_hostname="127.0.0.1")
    client = RawClient(reader, writer)
    try:
        yield client
    finally:
        client.leave()
