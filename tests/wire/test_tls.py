"""The same port behind TLS: no handshake may take for ever, and refusals still reach whoever goes on sending."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trustme

from heterodyne.testing import behaviours
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import connected, speaking
from tests.support.requests import chat, get, post


@asynccontextmanager
async def secured(folder: Path, **gateway: float) -> AsyncIterator[tuple[Rig, ssl.SSLContext]]:
    """A gateway that speaks TLS, and what trusts it."""
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    certificate.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    key.write_bytes(issued.private_key_pem.bytes())
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    files = {"tls_certificate": str(certificate), "tls_key": str(key)}
    async with gateway_over(behaviours.answer(), gateway={**files, **gateway}, waits_ready=False) as rig:
        yield rig, trusting


async def test_a_handshake_that_does_not_come_is_given_up(tmp_path: Path) -> None:
    async with secured(tmp_path, head_timeout_s=0.3) as (rig, _):
        async with connected(rig.port) as silent:
            assert await silent.is_closed()
        async with connected(rig.port) as half:
            await half.send(b"\x16\x03\x01\x02\x00\x01")
            assert await half.is_closed()


async def test_much_input_at_once_is_answered_in_order(tmp_path: Path) -> None:
    async with secured(tmp_path) as (rig, tls), speaking(rig.port, tls) as client:
        sending = asyncio.create_task(client.send(get("/health/live") * 2000))
        assert {(await client.answer()).status for _ in range(2000)} == {200}
        await sending
        body = chat(model="unknown", padding="x" * 300_000)
        assert (await client.ask(body)).status == 404


@pytest.mark.parametrize("path", ["/v1/nowhere", "/v1/completions"])
async def test_a_refusal_reaches_a_client_that_keeps_sending(tmp_path: Path, path: str) -> None:
    async with secured(tmp_path, body_bytes_max=1 << 20) as (rig, tls), speaking(rig.port, tls) as client:
        request = post(path, b" " * (2 << 20))
        sending = asyncio.create_task(client.send(request))
        assert (await client.answer()).status == 413
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        await rig.wait_empty()
