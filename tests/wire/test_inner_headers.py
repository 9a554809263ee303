"""What the gateway tells itself in headers, no client can tell it."""

from hashlib import sha256

import pytest

from heterodyne.testing import behaviours
from tests.support.gateways import gateway_over
from tests.support.raw_client import ask
from tests.support.requests import chat

KEYED = {"api_keys_sha256": (sha256(b"a-key").hexdigest(),)}
OWN = f"static_{sha256(b'a-key').hexdigest()[:8]}"


@pytest.mark.parametrize("header", [f":key-id: {OWN}", f" :key-id: {OWN}", f"x: y\r\n :key-id: {OWN}", ":stored-id: x"])
async def test_a_client_cannot_say_whose_request_it_is(header: str) -> None:
    async with gateway_over(behaviours.answer(), admission=KEYED) as rig:
        assert (await ask(rig.port, chat(header))).status == 400
        assert not rig.engine.calls


@pytest.mark.parametrize("header", [f"x:key-id: {OWN}", f"key-id: {OWN}"])
async def test_what_looks_like_it_is_another_header(header: str) -> None:
    async with gateway_over(behaviours.answer(), admission=KEYED) as rig:
        assert (await ask(rig.port, chat(header))).status == 401
        assert not rig.engine.calls
