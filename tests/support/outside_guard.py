"""A guard of somebody else's: a small HTTP server that finds words, or does what a test tells it instead."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec

from heterodyne.safety.settings import GuardSettings

WORD = "zyzzyva"  # what it finds
RULE = "insect"


class OutsideGuard:
    """Keeps what it was asked; `answers` is what it says instead of findings, `late_s` how long it takes."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.heads: list[str] = []
        self.answers: bytes | None = None
        self.status = 200
        self.late_s = 0.0
        self.goes_on = asyncio.Event()  # with `late_s`: it answers at once
        self.cut_off = 0  # questions whose asker did not wait
        self.port = 0
        self.writers: list[asyncio.StreamWriter] = []  # of all connections
        self.closed = 0  # connections

    @property
    def connections(self) -> int:
        return len(self.writers)

    def hang_up(self) -> None:
        """Close every connection."""
        for writer in self.writers:
            writer.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/look?v=1"

    def settings(self, **more: Any) -> GuardSettings:
        """A policy that asks it."""
        given = {"guard": "http", "action": "block", "url": self.url, "timeout_ms": 20_000}
        return GuardSettings(**{**given, **more})

    def policies(self, **more: Any) -> dict[str, GuardSettings]:
        return {"outside": self.settings(**more)}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.append(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                size = next(int(line[15:]) for line in head.split("\r\n") if line.startswith("content-length:"))
                await self._answer(head, await reader.readexactly(size), reader, writer)
        self.closed += 1
        writer.close()

    async def _answer(self, head: str, body: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = msgspec.json.decode(body)
        self.asked.append(asked)
        self.heads.append(head)
        if self.late_s and not await self._is_waited_for(reader):
            self.cut_off += 1
            return
        found = [
            {"rule": RULE, "score": 0.9, "where": text["where"]} for text in asked["texts"] if WORD in text["text"]
        ]
        answer = msgspec.json.encode({"findings": found}) if self.answers is None else self.answers
        writer.write(b"HTTP/1.1 %d X\r\ncontent-length: %d\r\n\r\n%b" % (self.status, len(answer), answer))
        await writer.drain()

    async def _is_waited_for(self, reader: asyncio.StreamReader) -> bool:
        left, going = asyncio.ensure_future(reader.read(1)), asyncio.ensure_future(self.goes_on.wait())
        await asyncio.wait((left, going), timeout=self.late_s, return_when=asyncio.FIRST_COMPLETED)
        is_waited_for = not left.done()
        for one in (left, going):
            one.cancel()
        await asyncio.gather(left, going, return_exceptions=True)
        return is_waited_for


@asynccontextmanager
async def outside_guard() -> AsyncIterator[OutsideGuard]:
    """One that listens while the block runs."""
    guard = OutsideGuard()
    serving: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving[asyncio.ensure_future(guard.serve(reader, writer))] = writer

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    guard.port = server.sockets[0].getsockname()[1]
    try:
        yield guard
    finally:
        server.close()
        for writer in serving.values():
            writer.transport.abort()
        await asyncio.gather(*serving)
