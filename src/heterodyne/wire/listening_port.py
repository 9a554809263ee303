"""The gateway's port. Behind TLS, files that were written anew hold from the next handshake on, and nobody is cut."""

import asyncio
import os
import socket
import ssl
from collections.abc import Callable
from typing import Final

from heterodyne.gateway.settings import GatewaySettings
from heterodyne.telemetry import log, metrics
from heterodyne.telemetry.trouble import Trouble
from heterodyne.wire.tls.contexts import door_context
from heterodyne.wire.tls.stamps import Stamp, stamp_of

_log = log.get("gateway")

BACKLOG: Final = 4096
LOOK_S: Final = 1.0  # between looks at the files
SETTING: Final = "gateway.tls_certificate"


class ListeningPort:
    """Opens, looks after its certificate, closes."""

    def __init__(self, settings: GatewaySettings, connection: Callable[[], asyncio.Protocol]) -> None:
        self._settings = settings
        self._connection = connection
        self._files = settings.tls_files
        self._stamp: Stamp = ()  # of the files that hold
        self._seen: Stamp = ()  # of those of the last look
        self._look_at_s = 0.0
        self._servers: list[asyncio.Server] = []
        self._trouble = Trouble(_log, "certificate_unreadable", setting=SETTING)
        self.port = 0

    async def open(self, *, reuse_port: bool) -> None:
        """Listen; afterwards `port` is the real one."""
        settings = self._settings
        self._stamp = stamp_of(self._files)
        tls = await self._tls()
        server = await asyncio.get_running_loop().create_server(
            self._connection,
            settings.host,
            settings.port,
            reuse_port=reuse_port,
            backlog=BACKLOG,
            ssl=tls,
            ssl_handshake_timeout=None if tls is None else settings.head_timeout_s,
        )
        self._servers = [server]
        self.port = server.sockets[0].getsockname()[1]

    async def look(self, now_s: float) -> None:
        """Take files that are new; while they are unfit, those that were read last go on to hold."""
        if self._settings.tls_certificate is None or now_s < self._look_at_s or not self._servers:
            return
        self._look_at_s = now_s + LOOK_S
        stamp = await asyncio.to_thread(stamp_of, self._files)
        is_settled, self._seen = stamp == self._seen, stamp
        if stamp == self._stamp or not is_settled:  # a certificate and its key are rarely written at once
            return
        try:
            await self._renew()
        except OSError as error:  # those of ssl, too
            metrics.certificate_failures.add((SETTING,))
            self._trouble.failed(error)
        else:
            self._stamp = stamp
            self._trouble.worked()
            _log.info("certificate_taken", setting=SETTING, file=self._files.certificate)

    def close(self) -> None:
        """Take no more connections; those there are go on."""
        for server in self._servers:
            server.close()
        self._servers = []

    async def _renew(self) -> None:
        """Another server takes the same sockets: a session of the last one is not resumed, so who was revoked is out.
        What waits in their queues is taken by whichever comes first."""
        tls, loop = await self._tls(), asyncio.get_running_loop()
        renewed = []
        for server in self._servers:
            for each in server.sockets:
                shared = socket.socket(fileno=os.dup(each.fileno()))
                renewed.append(
                    await loop.create_server(
                        self._connection,
                        sock=shared,
                        backlog=BACKLOG,
                        ssl=tls,
                        ssl_handshake_timeout=self._settings.head_timeout_s,
                    )
                )
        before = self._servers
        if before:
            self._servers = renewed
        for server in before or renewed:  # the port was closed meanwhile
            server.close()

    async def _tls(self) -> ssl.SSLContext | None:
        settings, files = self._settings, self._files
        if files.certificate is None:
            return None
        return await asyncio.to_thread(
            door_context, files, version_min=settings.tls_version_min, refused=self._on_refused
        )

    def _on_refused(self, reason: str) -> None:
        metrics.handshake_failures.add((reason,))
