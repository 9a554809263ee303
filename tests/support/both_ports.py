"""A data port and an admin port on a thread of their own, for tests that attack both in the same ways."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256

import msgspec
import uvloop

from heterodyne.testing import behaviours
from tests.support.admin_ports import AUTHORIZED, admin_port
from tests.support.gateways import gateway_over
from tests.support.requests import chat_body, get, post

KEYED = {"api_keys_sha256": (sha256(AUTHORIZED.removeprefix("authorization: Bearer ").encode()).hexdigest(),)}
BODY_BYTES_MAX = 1 << 20
SLOW_S = 4.0  # what is waited for longer than this is given up
LIMITS = {
    "head_timeout_s": SLOW_S,
    "body_timeout_s": SLOW_S,
    "idle_timeout_s": SLOW_S,
    "write_timeout_s": SLOW_S,
    "body_bytes_max": BODY_BYTES_MAX,
}
START_TIMEOUT_S = 30.0


class Port:
    """One of the two, as somebody sees it who only knows its paths."""

    def __init__(self, port: int, held: Callable[[], tuple[int, int]], *, page: str, path: str, body: bytes) -> None:
        self.port = port
        self.held = held  # connections, and bytes of bodies
        self.page = page
        self.path = path
        self.body = body

    def get(self, *headers: str, path: str | None = None, method: str = "GET") -> bytes:
        """Ask for a page that is open to anybody."""
        return get(self.page if path is None else path, *headers, method=method)

    def post(self, body: bytes | None = None, *headers: str) -> bytes:
        """Send a body, with the key."""
        return post(self.path, self.body if body is None else body, AUTHORIZED, *headers)

    def head(self, *headers: str, version: str = "1.1") -> bytes:
        """The head of a POST that says nothing of how its body is framed."""
        lines = ("host: localhost", "content-type: application/json", AUTHORIZED, *headers)
        return "\r\n".join((f"POST {self.path} HTTP/{version}", *lines, "", "")).encode()

    def chunked(self, chunks: bytes, *headers: str) -> bytes:
        """A POST whose body is framed so."""
        return self.head("transfer-encoding: chunked", *headers) + chunks


class BothPorts(msgspec.Struct):
    """By name."""

    data: Port
    admin: Port


@contextmanager
def serving() -> Iterator[BothPorts]:
    """Both, until the block ends."""
    started, served = threading.Event(), []
    ends: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def serve() -> None:
        over = asyncio.Event()
        ends.append((asyncio.get_running_loop(), over))
        gateway = gateway_over(behaviours.answer(), gateway=LIMITS, admission=KEYED)
        async with gateway as rig, admin_port(**LIMITS) as admin:
            served.append(
                BothPorts(
                    data=Port(
                        rig.port,
                        lambda: (rig.holds().connections, rig.holds().body_bytes),
                        page="/health/live",
                        path="/v1/chat/completions",
                        body=chat_body(),
                    ),
                    admin=Port(
                        admin.port,
                        lambda: (len(admin.ledger.connections), admin.ledger.body_bytes),
                        page="/health",
                        path="/admin/playground",
                        body=chat_body(),
                    ),
                )
            )
            started.set()
            await over.wait()

    thread = threading.Thread(target=lambda: uvloop.run(serve()))
    thread.start()
    try:
        assert started.wait(START_TIMEOUT_S)
        yield served[0]
    finally:
        loop, over = ends[0]
        loop.call_soon_threadsafe(over.set)
        thread.join(START_TIMEOUT_S)
        assert not thread.is_alive()
