"""Clients that show certificates: whose key each stands for, who is let in, and what is said of the others."""

import asyncio
import socket
import ssl
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from heterodyne.telemetry import metrics
from heterodyne.testing import behaviours
from heterodyne.wire.listening_port import LOOK_S
from tests.support.certificates import Authority, Issued
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import Answer, RawClient, speaking
from tests.support.requests import chat, get

KEY = "hd-search"
DIGEST = sha256(KEY.encode()).hexdigest()
KEY_ID = f"static_{DIGEST[:8]}"
RULES = {"spiffe://prod/search/*": KEY_ID, "billing.prod.example": KEY_ID}


class Secured:
    """A gateway that asks for certificates, and the authorities there are."""

    def __init__(self, rig: Rig, door: Authority, clients: Authority) -> None:
        self.rig = rig
        self.door = door
        self.clients = clients

    async def ask(self, shown: Issued | None, request: bytes | None = None) -> Answer:
        """Over a connection of its own."""
        tls = self.door.believer() if shown is None else shown.outward(self.door)
        async with speaking(self.rig.port, tls) as client:
            return await client.ask(chat() if request is None else request)


@asynccontextmanager
async def secured(folder: Path, *, lists_revoked: bool = False, **gateway: Any) -> AsyncIterator[Secured]:
    door, clients = Authority(folder, "door"), Authority(folder, "clients")
    own = door.issue("own", "127.0.0.1", "localhost")
    files = {
        "tls_certificate": str(own.certificate),
        "tls_key": str(own.key),
        "tls_client_authorities": str(clients.file),
        "tls_client_revoked": str(clients.revoke()) if lists_revoked else None,
    }
    admission = {"api_keys_sha256": (DIGEST,), "certificates": RULES}
    async with gateway_over(
        behaviours.answer(), gateway={**files, **gateway}, admission=admission, waits_ready=False
    ) as rig:
        await rig.wait(lambda: bool(rig.holds().replicas_takeable))
        yield Secured(rig, door, clients)


def resumed(port: int, tls: ssl.SSLContext, session: ssl.SSLSession | None) -> ssl.SSLSession | None:
    """The session of a connection that was answered, begun with an older one of the client; None: it was cut."""
    with (
        suppress(OSError),
        socket.create_connection(("127.0.0.1", port), timeout=30) as plain,
        tls.wrap_socket(plain, server_hostname="127.0.0.1", session=session) as secured,
    ):
        secured.sendall(get("/health/live"))
        return secured.session if secured.recv(1 << 16).startswith(b"HTTP/1.1 200") else None
    return None


async def refused_for(reason: str, asking: Any) -> bool:
    """Whether the connection ended without an answer, and was counted so."""
    before = metrics.handshake_failures.cell((reason,))[0]
    with suppress(OSError, asyncio.IncompleteReadError):
        await asking
        return False
    return bool(metrics.handshake_failures.cell((reason,))[0] == before + 1)


@pytest.mark.parametrize("name", ["spiffe://prod/search/api", "billing.prod.example"])
async def test_a_certificate_stands_for_a_key(tmp_path: Path, name: str) -> None:
    async with secured(tmp_path) as at:
        assert (await at.ask(at.clients.issue("client", name))).status == 200


async def test_one_that_stands_for_no_key_is_told_its_names(tmp_path: Path) -> None:
    async with secured(tmp_path) as at:
        other = at.clients.issue("client", "spiffe://prod/billing/api")
        refused = await at.ask(other)
        assert refused.status == 401
        assert "spiffe://prod/billing/api" in refused.error["message"]
        assert (await at.ask(other, chat(f"authorization: Bearer {KEY}"))).status == 200


async def test_who_shows_none_brings_a_key(tmp_path: Path) -> None:
    async with secured(tmp_path) as at:
        assert (await at.ask(None)).status == 401
        assert (await at.ask(None, chat(f"authorization: Bearer {KEY}"))).status == 200


async def test_where_one_is_required_a_key_is_not_enough_and_health_is_open(tmp_path: Path) -> None:
    async with secured(tmp_path, tls_client_certificates="required") as at:
        refused = await at.ask(None, chat(f"authorization: Bearer {KEY}"))
        assert (refused.status, "client certificate" in refused.error["message"]) == (401, True)
        assert (await at.ask(None, get("/health/ready"))).status == 200
        assert (await at.ask(at.clients.issue("client", "spiffe://prod/search/api"))).status == 200


async def test_those_that_are_over_too_early_strange_or_revoked_are_turned_away_each_by_its_word(
    tmp_path: Path,
) -> None:
    async with secured(tmp_path, lists_revoked=True) as at:
        name = "spiffe://prod/search/api"
        assert (await at.ask(at.clients.issue("good", name))).status == 200
        assert await refused_for("expired", at.ask(at.clients.issue("old", name, days=-0.1)))
        assert await refused_for("not_yet_valid", at.ask(at.clients.issue("new", name, since_days=-0.1)))
        strange = Authority(tmp_path, "others").issue("strange", name)
        assert await refused_for("unknown_authority", at.ask(strange))


async def test_one_that_was_revoked_is_out_as_soon_as_the_list_says_so(tmp_path: Path) -> None:
    async with secured(tmp_path, lists_revoked=True) as at:
        kept, lost = (at.clients.issue(name, "spiffe://prod/search/api") for name in ("kept", "lost"))
        tls = lost.outward(at.door)
        session = await asyncio.to_thread(resumed, at.rig.port, tls, None)
        assert session is not None
        at.clients.revoke([lost])
        async with asyncio.timeout(30):
            while await asyncio.to_thread(resumed, at.rig.port, tls, session) is not None:
                await asyncio.sleep(LOOK_S / 10)
        assert await refused_for("revoked", at.ask(lost))
        assert (await at.ask(kept)).status == 200


async def test_old_versions_and_plain_words_are_turned_away(tmp_path: Path) -> None:
    async with secured(tmp_path, tls_version_min="1.3") as at:
        old = at.door.believer()
        old.maximum_version = ssl.TLSVersion.TLSv1_2

        async def ask(tls: ssl.SSLContext) -> None:
            async with speaking(at.rig.port, tls) as client:
                await client.ask(chat())

        async def ask_plainly() -> None:
            reader, writer = await asyncio.open_connection("127.0.0.1", at.rig.port)
            client = RawClient(reader, writer)
            try:
                await client.ask(chat())
            finally:
                client.leave()

        assert await refused_for("old_version", ask(old))
        assert await refused_for("not_tls", ask_plainly())


@pytest.mark.parametrize(
    ("version", "ciphers", "reason"),
    [("TLSv1_1", "ALL:@SECLEVEL=0", "old_version"), ("TLSv1_2", "NULL:aNULL:@SECLEVEL=0", "no_common_cipher")],
)
async def test_weak_protocols_and_ciphers_are_turned_away_whatever_the_settings_say(
    tmp_path: Path, version: str, ciphers: str, reason: str
) -> None:
    weak = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    weak.check_hostname, weak.verify_mode = False, ssl.CERT_NONE
    weak.set_ciphers(ciphers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python does not like them either
        weak.minimum_version = weak.maximum_version = ssl.TLSVersion[version]
    async with secured(tmp_path) as at:

        async def ask() -> None:
            async with speaking(at.rig.port, weak) as client:
                await client.ask(chat())

        assert await refused_for(reason, ask())


async def test_a_certificate_is_renewed_while_clients_come_and_go_and_streams_run(tmp_path: Path) -> None:
    """Half-written files are left until they fit; nobody is cut and nobody is turned away."""
    async with secured(tmp_path, lists_revoked=True) as at:
        client = at.clients.issue("client", "spiffe://prod/search/api")
        first = at.door.issue("first", "127.0.0.1").certificate.read_bytes()
        own = tmp_path / "own.pem"
        answers: list[int] = []
        is_over = False

        async def keep_asking() -> None:
            while not is_over:
                answers.append((await at.ask(client)).status)

        async with speaking(at.rig.port, client.outward(at.door)) as lasting, asyncio.TaskGroup() as group:
            assert (await lasting.ask(chat())).status == 200
            for _ in range(4):
                group.create_task(keep_asking())
            own.write_bytes(first)  # the key of another
            failures = metrics.certificate_failures.cell(("gateway.tls_certificate",))
            before = failures[0]
            await at.rig.wait(lambda: failures[0] > before)
            number = at.door.issue("own", "127.0.0.1").certificate.read_bytes()
            assert number != first

            async def shown() -> str:
                _, writer = await asyncio.open_connection("127.0.0.1", at.rig.port, ssl=client.outward(at.door))
                seen = writer.get_extra_info("ssl_object").getpeercert(True)
                writer.close()
                return ssl.DER_cert_to_PEM_cert(seen)

            async with asyncio.timeout(30):
                while (await shown()).encode().strip() != number.strip():
                    await asyncio.sleep(LOOK_S / 10)
            is_over = True
            assert (await lasting.ask(chat())).status == 200
        assert set(answers) == {200}
