"""A port. Behind TLS, files that were written anew hold from the next handshake on, and nobody is cut."""

import asyncio
import os
import socket
import ssl
from collections.abc import Callable
from typing import Final, Protocol

from heterodyne.domain.tls_files import TlsFiles
from heterodyne.wire.tls.contexts import TlsVersion, door_context
from heterodyne.wire.tls.stamps import Stamp, stamp_of

BACKLOG: Final = 4096
LOOK_S: Final = 1.0  # between looks at the files


class CertificateNews(Protocol):
    """Hears what becomes of handshakes and of files."""

    def refused(self, reason: str) -> None:
        """A handshake failed."""

    def taken(self, file: str) -> None:
        """Newer files hold."""

    def unfit(self, error: OSError) -> None:
        """Newer files cannot be taken; the last ones go on to hold."""


class ListeningPort:
    """Opens, looks after its certificate, closes."""

    def __init__(
        self,
        connection: Callable[[], asyncio.Protocol],
        files: TlsFiles | None,
        news: CertificateNews,
        *,
        version_min: TlsVersion = "1.2",
        handshake_timeout_s: float = 10.0,
    ) -> None:
        """Without `files` it speaks no TLS."""
        self._connection = connection
        self._files = files
        self._news = news
        self._version_min: TlsVersion = version_min
        self._handshake_timeout_s = handshake_timeout_s
        self._stamp: Stamp = ()  # of the files that hold
        self._seen: Stamp = ()  # of those of the last look
        self._look_at_s = 0.0
        self._servers: list[asyncio.Server] = []
        self.port = 0

    async def open(self, host: str, port: int, *, reuse_port: bool) -> None:
        """Listen; afterwards `port` is the real one."""
        loop, tls = asyncio.get_running_loop(), await self._begin()
        server = await loop.create_server(
            self._connection,
            host,
            port,
            reuse_port=reuse_port,
            backlog=BACKLOG,
            ssl=tls,
            ssl_handshake_timeout=self._timeout_of(tls),
        )
        self._servers = [server]
        self.port = server.sockets[0].getsockname()[1]

    async def open_on(self, bound: socket.socket) -> None:
        """Listen on a socket that is bound already."""
        self._servers = [await self._listening(bound, await self._begin())]
        self.port = bound.getsockname()[1]

    async def look(self, now_s: float) -> None:
        """Take files that are new; while they are unfit, those that were read last go on to hold."""
        if self._files is None or now_s < self._look_at_s or not self._servers:
            return
        self._look_at_s = now_s + LOOK_S
        stamp = await asyncio.to_thread(stamp_of, self._files)
        is_settled, self._seen = stamp == self._seen, stamp
        if stamp == self._stamp or not is_settled:  # a certificate and its key are rarely written at once
            return
        try:
            await self._renew()
        except OSError as error:  # those of ssl, too
            self._news.unfit(error)
        else:
            self._stamp = stamp
            self._news.taken(self._files.certificate or "")

    def close(self) -> None:
        """Take no more connections; those there are go on."""
        for server in self._servers:
            server.close()
        self._servers = []

    async def _begin(self) -> ssl.SSLContext | None:
        if self._files is not None:
            self._stamp = stamp_of(self._files)
        return await self._tls()

    async def _renew(self) -> None:
        """Another server takes the same sockets: a session of the last one is not resumed, so who was revoked is out.
        What waits in their queues is taken by whichever comes first."""
        tls = await self._tls()
        renewed = []
        for server in self._servers:
            for each in server.sockets:
                shared = socket.socket(fileno=os.dup(each.fileno()))
                renewed.append(await self._listening(shared, tls))
        before = self._servers
        if before:
            self._servers = renewed
        for server in before or renewed:  # the port was closed meanwhile
            server.close()

    async def _listening(self, bound: socket.socket, tls: ssl.SSLContext | None) -> asyncio.Server:
        loop, timeout_s = asyncio.get_running_loop(), self._timeout_of(tls)
        return await loop.create_server(
            self._connection, sock=bound, backlog=BACKLOG, ssl=tls, ssl_handshake_timeout=timeout_s
        )

    def _timeout_of(self, tls: ssl.SSLContext | None) -> float | None:
        return None if tls is None else self._handshake_timeout_s

    async def _tls(self) -> ssl.SSLContext | None:
        if self._files is None:
            return None
        return await asyncio.to_thread(
            door_context, self._files, version_min=self._version_min, refused=self._news.refused
        )
