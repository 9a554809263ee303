"""Where workers send what they tell of requests: a socket for datagrams in the run folder."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from heterodyne.domain.abuse_sign import AbuseSign
from heterodyne.gateway.abuse.sign_sender import SOCKET
from heterodyne.telemetry import log
from heterodyne.telemetry.trouble import Trouble

DATAGRAM_BYTES_MAX: Final = 256 << 10
DATAGRAMS_MAX: Final = 4  # in a row, before other work has its turn
RECEIVE_BYTES: Final = 4 << 20  # that the system may hold, as far as it lets us
LOOK_S: Final = 5.0  # between two looks whether the socket is there

_log = log.get("abuse")
_decode = msgspec.msgpack.Decoder(list[AbuseSign]).decode


class SignListener:
    """One per supervisor, while there are policies."""

    def __init__(self, run_dir: Path, hear: Callable[[Sequence[AbuseSign]], None]) -> None:
        """`hear` may not raise."""
        self._path = run_dir / SOCKET
        self._hear = hear
        self._trouble = Trouble(_log, "abuse_not_heard", socket=str(self._path))

    async def listen(self) -> None:
        """Until cancelled; a socket that cannot be bound, or was removed, is bound again later."""
        while True:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as own:
                own.setblocking(False)
                try:
                    self._bind(own)
                except OSError as error:
                    self._trouble.failed(error)
                else:
                    self._trouble.worked()
                    await self._receive_while_there(own)
            await asyncio.sleep(LOOK_S)

    def _bind(self, own: socket.socket) -> None:
        own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
        self._path.unlink(missing_ok=True)
        own.bind(str(self._path))
        self._path.chmod(0o600)

    async def _receive_while_there(self, own: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        loop.add_reader(own, self._receive, own)
        try:
            while self._path.exists():
                await asyncio.sleep(LOOK_S)
        finally:
            loop.remove_reader(own)
            with suppress(OSError):  # the folder goes with its gateway
                self._path.unlink(missing_ok=True)

    def _receive(self, own: socket.socket) -> None:
        for _ in range(DATAGRAMS_MAX):
            try:
                message = own.recv(DATAGRAM_BYTES_MAX)
            except BlockingIOError:
                return
            try:
                signs = _decode(message)
            except msgspec.DecodeError as error:  # as of a worker of another version
                self._trouble.failed(error)
                continue
            self._hear(signs)
