"""Stores behind TLS that asks for a certificate: what their URLs say is shown, and who is not who they should be is not
spoken to. No server that is installed here speaks TLS itself, so a front before it does, as a sidecar would."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from heterodyne.domain.errors import StoreInvalid, StoreUnavailable
from heterodyne.domain.tls_files import TlsFiles
from heterodyne.stores.postgres.database import PostgresDatabase
from heterodyne.stores.redis.leases import RedisLeases
from heterodyne.wire.tls.contexts import door_context
from tests.support.certificates import Authority, Issued
from tests.support.postgres_server import postgres_url  # noqa: F401  # a fixture
from tests.support.redis_server import RedisServer

SSL_REQUEST_BYTES = 8  # of PostgreSQL's protocol, in the clear, before the handshake
TIMEOUT_S = 10.0


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    with RedisServer(keeps=False) as server:
        yield server


class Doors:
    """Certificates of servers, and one of ours, by one authority."""

    def __init__(self, folder: Path) -> None:
        self.authority = Authority(folder)
        self.ours = self.authority.issue("ours", "spiffe://prod/gateway")

    def issue(self, name: str) -> Issued:
        """A server's, good or with the fault that it is called by."""
        match name:
            case "over":
                return self.authority.issue(name, "127.0.0.1", days=-0.1)
            case "of another name":
                return self.authority.issue(name, "store.example")
            case "of a stranger":
                return Authority(self.authority.file.parent, "others").issue(name, "127.0.0.1")
            case _:
                return self.authority.issue(name, "127.0.0.1")

    def door(self, name: str) -> ssl.SSLContext:
        """Nobody comes in without a certificate."""
        own = self.issue(name)
        files = TlsFiles(certificate=str(own.certificate), key=str(own.key), authorities=str(self.authority.file))
        context = door_context(files)
        context.verify_mode = ssl.CERT_REQUIRED
        return context

    def redis_url(self, port: int) -> str:
        files = f"ssl_ca_certs={self.authority.file}&ssl_certfile={self.ours.certificate}&ssl_keyfile={self.ours.key}"
        return f"rediss://127.0.0.1:{port}/0?{files}"

    def postgres_url(self, port: int, database: str) -> str:
        files = f"sslrootcert={self.authority.file}&sslcert={self.ours.certificate}&sslkey={self.ours.key}"
        return f"postgresql://postgres:@127.0.0.1:{port}/{database}?sslmode=verify-full&{files}"


@pytest.fixture
def doors(tmp_path: Path) -> Doors:
    return Doors(tmp_path)


@asynccontextmanager
async def front(socket: Path, tls: ssl.SSLContext, *, asks_first: bool) -> AsyncIterator[int]:
    """TLS before a server on a unix socket; `asks_first`: its clients ask in the clear whether it speaks TLS."""
    serve = partial(_serve, socket, tls if asks_first else None)
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=None if asks_first else tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def _serve(
    socket: Path, upgrade: ssl.SSLContext | None, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    with suppress(OSError, asyncio.IncompleteReadError):
        if upgrade is not None:
            await reader.readexactly(SSL_REQUEST_BYTES)
            writer.write(b"S")
            await writer.start_tls(upgrade)
        behind_reader, behind = await asyncio.open_unix_connection(str(socket))
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_pass_on(reader, behind))
                group.create_task(_pass_on(behind_reader, writer))
        finally:
            behind.close()
    writer.close()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(1 << 16):
            writer.write(piece)
            await writer.drain()
    with suppress(OSError):
        writer.close()


async def test_redis_is_shown_our_certificate_and_believed_by_its_own(redis: RedisServer, doors: Doors) -> None:
    async with front(redis.path, doors.door("good"), asks_first=False) as port:
        leases = RedisLeases(doors.redis_url(port), timeout_s=TIMEOUT_S)
        try:
            assert await leases.clock_s() > 0
        finally:
            await leases.close()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("over", "certificate has expired"),
        ("of another name", "IP address mismatch, certificate is not valid for '127.0.0.1'"),
        ("of a stranger", "unable to get local issuer certificate"),
    ],
)
async def test_a_redis_that_is_not_who_it_should_be_is_named_by_its_fault(
    redis: RedisServer, doors: Doors, name: str, told: str
) -> None:
    async with front(redis.path, doors.door(name), asks_first=False) as port:
        leases = RedisLeases(doors.redis_url(port), timeout_s=TIMEOUT_S)
        try:
            with pytest.raises(StoreUnavailable, match=told):
                await leases.clock_s()
        finally:
            await leases.close()


@pytest.mark.parametrize("name", ["good", "over", "of another name", "of a stranger"])
async def test_postgresql_is_believed_by_its_certificate_and_shown_ours(
    postgres_url: str,  # noqa: F811  # the fixture
    doors: Doors,
    name: str,
) -> None:
    at = urlsplit(postgres_url)
    socket = Path(parse_qs(at.query)["host"][0]) / ".s.PGSQL.5432"
    async with front(socket, doors.door(name), asks_first=True) as port:
        url = doors.postgres_url(port, at.path.removeprefix("/"))
        if name != "good":
            with pytest.raises(StoreInvalid, match=r"certificate has expired|not valid for|local issuer"):
                await PostgresDatabase.open(url)
            return
        database = await PostgresDatabase.open(url)
        try:
            async with database.connection() as connection:
                assert await connection.fetchval("SELECT 1") == 1
        finally:
            await database.close()
