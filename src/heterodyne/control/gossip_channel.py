"""Carries gossip between the workers of one machine: datagrams between sockets in the run folder.

Nothing here waits for another worker. A worker that is busy, gone or not yet there misses a message, and routes a
little worse until it has learned by itself what was in the message.
"""

import asyncio
import errno
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from heterodyne.telemetry import log, metrics
from heterodyne.telemetry.trouble import Trouble

INTERVAL_S = 0.05  # between two tellings; a turn of a conversation takes longer
BIND_INTERVAL_S = 5.0  # between two looks whether the socket is there
SUFFIX = ".hearsay.sock"
DATAGRAM_BYTES_MAX = 128 << 10  # a longer one is cut, and then malformed
MESSAGES_MAX = 8  # sent in a row, and received in a row, before other work has its turn
FULL = (errno.EAGAIN, errno.ENOBUFS, errno.EMSGSIZE)
ABSENT = (errno.ECONNREFUSED, errno.ENOENT)

_log = log.get("control")


class GossipChannel:
    """One worker's end."""

    def __init__(
        self,
        run_dir: Path,
        name: str,
        take: Callable[[], bytes | None],
        hear: Callable[[bytes], object],
        *,
        suffix: str = SUFFIX,
    ) -> None:
        """`take` gives the next message for the others, or None; `hear` raises `ValueError` for one that is none. Those
        with the same suffix hear each other."""
        self._run_dir = run_dir
        self._suffix = suffix
        self._own = run_dir / f"{name}{suffix}"
        self._take = take
        self._hear = hear

    async def run(self) -> None:
        """Send and receive until cancelled; a socket that cannot be bound, or was removed, is bound again later."""
        trouble = Trouble(_log, "hearsay_off", socket=str(self._own))
        while True:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as own:
                own.setblocking(False)
                try:
                    self._bind(own)
                except OSError as error:
                    trouble.failed(error)
                else:
                    trouble.worked()
                    await self._talk(own)
            await asyncio.sleep(BIND_INTERVAL_S)

    def _bind(self, own: socket.socket) -> None:
        self._run_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._own.unlink(missing_ok=True)  # of a worker of this name that died
        own.bind(str(self._own))
        self._own.chmod(0o600)

    async def _talk(self, own: socket.socket) -> None:
        """For as long as others can find it."""
        loop = asyncio.get_running_loop()
        loop.add_reader(own, self._receive_all, own)
        look_at_s = loop.time() + BIND_INTERVAL_S
        try:
            while True:
                self._send_all(own)
                await asyncio.sleep(INTERVAL_S)
                if loop.time() >= look_at_s:
                    look_at_s = loop.time() + BIND_INTERVAL_S
                    if not self._own.exists():
                        return
        finally:
            loop.remove_reader(own)
            with suppress(OSError):  # the folder goes with its gateway
                self._own.unlink(missing_ok=True)

    def _send_all(self, own: socket.socket) -> None:
        others: list[str] | None = None
        for _ in range(MESSAGES_MAX):
            message = self._take()
            if message is None:
                return
            if others is None:
                others = [str(path) for path in self._run_dir.glob(f"*{self._suffix}") if path != self._own]
            for other in others:
                _send(own, message, other)

    def _receive_all(self, own: socket.socket) -> None:
        for _ in range(MESSAGES_MAX):
            try:
                message = own.recv(DATAGRAM_BYTES_MAX)
            except BlockingIOError:
                return
            try:
                self._hear(message)
                metrics.gossip_received.add()
            except ValueError:
                metrics.gossip_dropped.add(("malformed",))


def _send(own: socket.socket, message: bytes, other: str) -> None:
    try:
        own.sendto(message, other)
        metrics.gossip_sent.add()
    except OSError as error:
        if error.errno in FULL:
            metrics.gossip_dropped.add(("full",))
        elif error.errno not in ABSENT:
            _log.warning("hearsay_failed", to=other, error=str(error))
