"""A unix socket for its owner alone, bound again when its file is removed; one that cannot be bound is tried again."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from heterodyne.telemetry import log
from heterodyne.telemetry.loops import run_periodically
from heterodyne.telemetry.trouble import Trouble

LOOK_INTERVAL_S = 1.0
STREAM_BYTES_MAX = 64 << 10  # as asyncio has it
OWNER_ONLY = 0o600

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None] | None]

_log = log.get("stores")


@asynccontextmanager
async def rebinding_listener(
    path: Path, serve: Serve, *, backlog: int, limit: int = STREAM_BYTES_MAX, check_interval_s: float = LOOK_INTERVAL_S
) -> AsyncIterator[None]:
    """Listen inside the block, at once where it can be; connections that are open outlive their listener."""
    listener = _Listener(path, serve, backlog, limit)
    await listener.look()
    looking = asyncio.create_task(run_periodically(f"socket {path.name}", listener.look, check_interval_s))
    try:
        yield
    finally:
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking
        listener.close()


def bind_owner_only(path: Path) -> socket.socket:
    """A socket at the path that does not listen yet: by the time it does, only its owner can connect."""
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        path.chmod(OWNER_ONLY)
    except OSError:
        listener.close()
        raise
    listener.setblocking(False)
    return listener


class _Listener:
    def __init__(self, path: Path, serve: Serve, backlog: int, limit: int) -> None:
        self._path = path
        self._serve: Any = serve
        self._backlog = backlog
        self._limit = limit
        self._server: asyncio.Server | None = None
        self._trouble = Trouble(_log, "socket_not_bound", socket=str(path))

    async def look(self) -> None:
        """Bind it where it is not bound."""
        if self._server is not None and self._path.exists():
            return
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            server = await asyncio.start_unix_server(
                self._serve, sock=bind_owner_only(self._path), backlog=self._backlog, limit=self._limit
            )
        except OSError as error:
            self._trouble.failed(error)
            return
        if self._server is not None:
            self._server.close()
        self._server = server
        self._trouble.worked()

    def close(self) -> None:
        """Listen no more."""
        if self._server is not None:
            self._server.close()
        with suppress(OSError):  # the folder goes with its gateway
            self._path.unlink(missing_ok=True)
