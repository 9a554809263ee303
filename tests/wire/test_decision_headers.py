"""What an answer says of the decision behind it."""

import re

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from tests.support.gateways import gateway_over
from tests.support.raw_client import connected
from tests.support.requests import chat

PREDICTED = r"ttft=\d+ms; itl=\d+\.\dms"


async def test_a_whole_answer_says_why_its_replica_and_what_was_predicted() -> None:
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        headers = (await client.ask(chat())).headers
        assert re.fullmatch(f"only_replica; {PREDICTED}", headers["x-heterodyne-decision"])
        assert "x-heterodyne-model" not in headers


async def test_what_it_costs_is_said_where_somebody_says_it() -> None:
    async with (
        gateway_over(behaviours.answer(), pool={"price_usd_per_hour": 3.6}) as rig,
        connected(rig.port) as client,
    ):
        said = (await client.ask(chat())).headers["x-heterodyne-decision"]
        found = re.fullmatch(rf"only_replica; {PREDICTED}; usd=(\d+\.\d{{8}})", said)
        assert found is not None
        assert 0 < float(found.group(1)) < 1


async def test_a_stream_says_it_in_its_head() -> None:
    async with gateway_over(behaviours.stream(2), behaviours.stream(2)) as rig, connected(rig.port) as client:
        headers = (await client.ask(chat(stream=True))).headers
        assert re.fullmatch(rf"only_\w+; {PREDICTED}", headers["x-heterodyne-decision"])


async def test_an_alias_is_no_other_model() -> None:
    async with gateway_over(behaviours.answer(), model={"aliases": ("nick",)}) as rig, connected(rig.port) as client:
        headers = (await client.ask(chat(model="nick"))).headers
        assert "x-heterodyne-model" not in headers


async def test_an_answer_before_any_decision_says_nothing_of_one() -> None:
    async with gateway_over(ScriptedEngine(behaviours.answer())) as rig, connected(rig.port) as client:
        assert "x-heterodyne-decision" not in (await client.ask(chat(model="nobody"))).headers
