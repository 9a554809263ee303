"""What is kept goes past the policies of whoever asks, each time: no secret in, none out, nobody else's values."""

import pytest
from msgspec import structs

from heterodyne.caching.settings import CacheSettings
from tests.guards.every_route import ASKED, Asked, request
from tests.guards.leaky_engine import saying
from tests.guards.matrix import tried
from tests.support.gateways import Rig, gateway_over
from tests.support.guards import BLOCKS, EMAIL, MASKS, SECRET
from tests.support.raw_client import ask

ALL = {"all": CacheSettings(sampled=True)}
OTHER = "john.roe@example.org"
CHAT = ASKED[0]


def take(rig: Rig, **changes: object) -> None:
    """Other settings while it serves."""
    gateway = rig.gateway
    fleet = gateway._upstream.fleet.snapshot
    gateway.apply(structs.replace(gateway.settings, **changes), fleet.replicas, fleet.rules, gateway.version)


@tried("cached", "out")
@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_secret_in_a_kept_answer_reaches_no_client(asked: Asked, is_stream: bool) -> None:
    async with gateway_over(saying(f"take {SECRET}"), caches=ALL) as rig:
        first = await ask(rig.port, request(asked, "hello", stream=is_stream))
        assert first.status == 200
        take(rig, guards=BLOCKS)
        again = await ask(rig.port, request(asked, "hello", stream=is_stream))
        assert len(rig.engine.calls) == 1
        assert again.headers["x-heterodyne-cache"] == "hit"
        assert SECRET[:8].encode() not in again.body


@tried("cached", "in")
async def test_a_secret_on_its_way_in_is_not_looked_up(asked: Asked) -> None:
    async with gateway_over(saying("fine"), caches=ALL) as rig:
        await ask(rig.port, request(asked, f"use {SECRET}"))
        take(rig, guards=BLOCKS)
        answer = await ask(rig.port, request(asked, f"use {SECRET}"))
        assert answer.status == 400
        assert "x-heterodyne-cache" not in answer.headers


@pytest.mark.parametrize("first_streams", [False, True])
@pytest.mark.parametrize("then_streams", [False, True])
async def test_what_a_policy_cut_off_is_kept_as_the_engine_said_it(first_streams: bool, then_streams: bool) -> None:
    """A whole answer is; a stream that a policy ended was never heard to its end."""
    async with gateway_over(saying(f"take {SECRET}"), caches=ALL, guards=BLOCKS) as rig:
        await ask(rig.port, request(CHAT, "hello", stream=first_streams))
        take(rig, guards={})
        again = await ask(rig.port, request(CHAT, "hello", stream=then_streams))
        if first_streams:
            assert again.headers["x-heterodyne-cache"] == "miss"
        else:
            assert again.headers["x-heterodyne-cache"] == "hit"
            assert b"story goes on" in again.body


@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_placeholder_stands_for_the_value_of_whoever_asks(is_stream: bool) -> None:
    async with gateway_over(saying("I wrote to <EMAIL_1> today"), caches=ALL, guards=MASKS) as rig:
        first = await ask(rig.port, request(CHAT, f"write to {EMAIL}"))
        again = await ask(rig.port, request(CHAT, f"write to {OTHER}", stream=is_stream))
        assert len(rig.engine.calls) == 1
        assert again.headers["x-heterodyne-cache"] == "hit"
        assert EMAIL.encode() in first.body
        assert OTHER.encode() in again.body
        assert EMAIL.encode() not in again.body


async def test_verdicts_of_a_hit_are_in_its_record(tmp_path) -> None:
    records = tmp_path / "records"
    async with gateway_over(saying(f"take {SECRET}"), caches=ALL, guards=BLOCKS, records=records) as rig:
        for _ in range(2):
            await ask(rig.port, request(CHAT, "hello"))
        first, again = await rig.wait_records(2)
        assert (first.cache, again.cache) == ("miss", "hit")
        assert [one.rule for one in again.guards] == [one.rule for one in first.guards] == ["anthropic_key"]


async def test_another_generation_and_no_policy_forget_what_was_kept() -> None:
    async with gateway_over(saying("fine"), caches=ALL) as rig:
        await ask(rig.port, request(CHAT, "hello"))
        take(rig, caches={"all": CacheSettings(sampled=True, generation="2")})
        assert (await ask(rig.port, request(CHAT, "hello"))).headers["x-heterodyne-cache"] == "miss"
        take(rig, caches={})
        assert "x-heterodyne-cache" not in (await ask(rig.port, request(CHAT, "hello"))).headers
        take(rig, caches=ALL)
        assert (await ask(rig.port, request(CHAT, "hello"))).headers["x-heterodyne-cache"] == "miss"
