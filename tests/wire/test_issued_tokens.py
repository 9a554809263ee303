"""Callers that bring a token of an issuer in place of a key, through a whole gateway."""

import asyncio
import time
from pathlib import Path

import pytest
from msgspec import structs

from heterodyne.domain.issued_token import stand_in_of
from heterodyne.domain.tenant import KeyId, Limits, Scopes, TenantSnapshot
from heterodyne.identity import issuer as issuer_module
from heterodyne.testing import behaviours
from tests.support.gateways import gateway_over
from tests.support.issuers import trusted_issuer
from tests.support.raw_client import RawClient, ask, connected
from tests.support.requests import MODEL, chat, chat_body, get, post
from tests.support.tenants import PROJECT, bearer, caller, tenants

LIMITED = structs.replace(caller(limits=Limits(requests_per_minute=2)), key=KeyId("key_ada"))
SCOPED = structs.replace(caller(scopes=(Scopes(models=("another",)),)), key=stand_in_of(PROJECT))
TENANTS: TenantSnapshot = structs.replace(tenants(secret=LIMITED), projects=(SCOPED,))
CALLERS = {"ada": "key_ada", "bob": PROJECT, "gone": "key_gone"}


async def wait_for(client: RawClient, request: bytes, status: int) -> None:
    """Ask until it is answered so."""
    async with asyncio.timeout(30):
        while (await client.ask(request)).status != status:
            await asyncio.sleep(0.02)


async def test_a_token_opens_with_the_limits_of_what_it_stands_for_and_keys_go_on_to(tmp_path: Path) -> None:
    async with trusted_issuer(tmp_path) as trusted:
        issuers = {"corp": trusted.settings(callers=CALLERS)}
        async with gateway_over(behaviours.answer(), tenants=TENANTS, issuers=issuers) as rig:
            token = bearer(trusted.issuer.token())
            assert (await ask(rig.port, chat(token))).status == 200
            assert (await ask(rig.port, chat(bearer("secret")))).status == 200
            assert (await ask(rig.port, chat(token))).error["code"] == "rate_limit_exceeded"
            scoped = await ask(rig.port, chat(bearer(trusted.issuer.token(sub="bob"))))
            assert (scoped.status, scoped.error["code"]) == (403, "not_allowed")


async def test_a_token_may_stand_where_the_clients_of_an_api_put_their_key(tmp_path: Path) -> None:
    async with trusted_issuer(tmp_path) as trusted:
        issuers = {"corp": trusted.settings(callers=CALLERS)}
        async with gateway_over(behaviours.answer(), tenants=TENANTS, issuers=issuers) as rig:
            body = chat_body(messages=[{"role": "user", "content": "hello"}], max_tokens=8, model=MODEL)
            message = post("/v1/messages", body, f"x-api-key: {trusted.issuer.token()}")
            assert (await ask(rig.port, message)).status == 200


async def test_what_does_not_open_is_told_why_and_nobody_is_served_without(tmp_path: Path) -> None:
    async with trusted_issuer(tmp_path) as trusted:
        issuers = {"corp": trusted.settings(callers=CALLERS)}
        async with gateway_over(behaviours.answer(), issuers=issuers, waits_ready=False) as rig:
            assert (await ask(rig.port, chat())).error["code"] == "invalid_api_key"
            unsigned = await ask(rig.port, chat(bearer(trusted.issuer.unsigned())))
            assert (unsigned.status, unsigned.error["code"]) == (401, "invalid_token")
            assert "not signed" in unsigned.error["message"]
            gone = await ask(rig.port, chat(bearer(trusted.issuer.token(sub="gone"))))
            assert "key_gone" in gone.error["message"]
            assert (await ask(rig.port, get("/health/ready", bearer(trusted.issuer.unsigned())))).status in (200, 503)
            assert rig.engine.calls == []


async def test_a_token_over_a_connection_that_lasts_ends_when_it_does(tmp_path: Path) -> None:
    late_s = 0.0
    async with trusted_issuer(tmp_path) as trusted:
        issuers = {"corp": trusted.settings(callers={"ada": caller().key})}
        async with gateway_over(
            behaviours.answer(),
            tenants=tenants(secret=caller()),
            issuers=issuers,
            wall_clock=lambda: time.time() + late_s,
        ) as rig:
            request = chat(bearer(trusted.issuer.token()))
            async with connected(rig.port) as client:
                assert (await client.ask(request)).status == 200
                late_s = 700.0
                assert "expired" in (await client.ask(request)).error["message"]


async def test_who_was_let_in_is_out_when_the_key_that_signed_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(issuer_module, "PAUSE_S", 0.0)
    async with trusted_issuer(tmp_path) as trusted:
        issuers = {"corp": trusted.settings(callers={"ada": caller().key}, refresh_s=5)}
        async with gateway_over(behaviours.answer(), tenants=tenants(secret=caller()), issuers=issuers) as rig:
            old = chat(bearer(trusted.issuer.token()))
            async with connected(rig.port) as client:
                assert (await client.ask(old)).status == 200
                trusted.issuer.rotate("second")
                new = chat(bearer(trusted.issuer.token()))
                answer = await client.ask(new)
                assert (answer.status, answer.error["code"], answer.headers["retry-after"]) == (
                    503,
                    "issuer_unavailable",
                    "1",
                )
                await wait_for(client, new, 200)
                monkeypatch.undo()
                await wait_for(client, old, 401)


async def test_a_gateway_whose_issuer_is_away_starts_and_serves_keys(tmp_path: Path) -> None:
    async with trusted_issuer(tmp_path) as trusted:
        issuers = {"corp": trusted.settings(callers=CALLERS)}
        await trusted.issuer.close()
        async with gateway_over(behaviours.answer(), tenants=TENANTS, issuers=issuers) as rig:
            assert (await ask(rig.port, chat(bearer("secret")))).status == 200
            refused = await ask(rig.port, chat(bearer(trusted.issuer.token())))
            assert (refused.status, refused.error["code"]) == (503, "issuer_unavailable")
