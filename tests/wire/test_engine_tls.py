"""Engines behind TLS: whom we believe, what we show them, and why there is no connection."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from heterodyne.domain.tls_files import TlsFiles
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.wire.address import Address
from heterodyne.wire.connection_pool import ConnectionPool
from heterodyne.wire.errors import WireError
from heterodyne.wire.fetch import get
from heterodyne.wire.tls import outward
from heterodyne.wire.tls.contexts import door_context
from tests.support.certificates import Authority
from tests.support.tls_front import tls_front


@asynccontextmanager
async def calling() -> AsyncIterator[ConnectionPool]:
    pool = ConnectionPool(asyncio.get_running_loop(), idle_max=0)
    try:
        yield pool
    finally:
        await pool.close()


@asynccontextmanager
async def engine() -> AsyncIterator[int]:
    scripted = ScriptedEngine(behaviours.answer())
    await scripted.open()
    try:
        yield scripted.port
    finally:
        await scripted.close()


async def asked(pool: ConnectionPool, port: int, files: TlsFiles | None, host: str = "127.0.0.1") -> int | str:
    """The status of its health page, or why there is none."""
    try:
        return (await get(pool, Address(host, port, tls=True, tls_files=files), "/health", timeout_s=30)).status
    except WireError as error:
        return error.describe("engine")


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.mark.parametrize(
    ("names", "days", "told"),
    [
        (("127.0.0.1",), 7.0, 200),
        (("127.0.0.1",), -0.1, "certificate has expired"),
        (("elsewhere.example",), 7.0, "IP address mismatch, certificate is not valid for '127.0.0.1'."),
    ],
)
async def test_a_certificate_that_is_over_or_anothers_is_named(
    authority: Authority, names: tuple[str, ...], days: float, told: int | str
) -> None:
    own = authority.issue("engine", *names, days=days)
    files = TlsFiles(authorities=str(authority.file))
    context = door_context(TlsFiles(certificate=str(own.certificate), key=str(own.key)))
    async with engine() as port, tls_front(port, context) as front, calling() as pool:
        answer = await asked(pool, front, files)
    assert answer == (told if told == 200 else f"The certificate of the engine is not accepted: {told}")


async def test_one_that_nobody_vouches_for_or_that_was_revoked_is_named(authority: Authority, tmp_path: Path) -> None:
    own = authority.issue("engine", "127.0.0.1")
    context = door_context(TlsFiles(certificate=str(own.certificate), key=str(own.key)))
    strange = TlsFiles(authorities=str(Authority(tmp_path, "others").file))
    files = TlsFiles(authorities=str(authority.file), revoked=str(authority.revoke()))
    async with engine() as port, tls_front(port, context) as front, calling() as pool:
        assert "unable to get local issuer certificate" in str(await asked(pool, front, strange))
        assert "unable to get local issuer certificate" in str(await asked(pool, front, None))
        assert await asked(pool, front, files) == 200
        authority.revoke([own])
        async with asyncio.timeout(30):
            while await asked(pool, front, files) == 200:
                await asyncio.sleep(outward.LOOK_S / 10)
        assert await asked(pool, front, files) == "The certificate of the engine is not accepted: certificate revoked"


async def test_an_engine_that_asks_for_a_certificate_is_shown_it_and_a_newer_one_when_there_is(
    authority: Authority, tmp_path: Path
) -> None:
    own, clients = authority.issue("engine", "127.0.0.1"), Authority(tmp_path, "clients")
    context = door_context(TlsFiles(certificate=str(own.certificate), key=str(own.key), authorities=str(clients.file)))
    context.verify_mode = ssl.CERT_REQUIRED
    ours = clients.issue("gateway", "gateway.example", days=-0.1)
    files = TlsFiles(authorities=str(authority.file), certificate=str(ours.certificate), key=str(ours.key))
    async with engine() as port, tls_front(port, context) as front, calling() as pool:
        assert isinstance(await asked(pool, front, TlsFiles(authorities=str(authority.file))), str)
        assert isinstance(await asked(pool, front, files), str)
        clients.issue("gateway", "gateway.example")
        async with asyncio.timeout(30):
            while await asked(pool, front, files) != 200:
                await asyncio.sleep(outward.LOOK_S / 10)


async def test_files_that_are_not_there_are_named_and_those_read_before_go_on_to_hold(
    authority: Authority, tmp_path: Path
) -> None:
    own = authority.issue("engine", "127.0.0.1")
    context = door_context(TlsFiles(certificate=str(own.certificate), key=str(own.key)))
    files = TlsFiles(authorities=str(authority.file))
    async with engine() as port, tls_front(port, context) as front, calling() as pool:
        missing = await asked(pool, front, TlsFiles(authorities=str(tmp_path / "nowhere.pem")))
        assert "No such file" in str(missing)
        assert await asked(pool, front, files) == 200
        authority.file.unlink()
        await asyncio.sleep(outward.LOOK_S * 1.1)
        assert await asked(pool, front, files) == 200
