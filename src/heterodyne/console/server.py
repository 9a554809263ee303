"""The admin API's listener, inside an event loop that belongs to somebody else."""

import contextlib
import socket
from collections.abc import Iterator

import uvicorn
from starlette.applications import Starlette

from heterodyne.console.security_headers import SECURITY_HEADERS

CONNECTIONS_MAX = 512  # a console that is open holds one or two for its live feed, all day
LEAVE_TIMEOUT_S = 1


class AdminServer:
    """Serves on a bound socket until it is closed."""

    def __init__(self, app: Starlette, listener: socket.socket) -> None:
        self._listener = listener
        self._server = _Server(
            uvicorn.Config(
                app,
                http="httptools",
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                headers=list(SECURITY_HEADERS),
                limit_concurrency=CONNECTIONS_MAX,
                timeout_keep_alive=5,
                timeout_graceful_shutdown=LEAVE_TIMEOUT_S,
            )
        )

    async def run(self) -> None:
        """Serve until `leave`."""
        await self._server.serve(sockets=[self._listener])

    def leave(self) -> None:
        """Take nothing new; `run` returns soon."""
        self._server.should_exit = True


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the supervisor's."""
        yield
