"""Two gateways on one PostgreSQL: either goes on where the other was, and nobody reads what is another's."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import cycle
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from heterodyne.testing.scripted_engine import EngineCall
from tests.support import requests
from tests.support.gateways import Rig, gateway_over
from tests.support.postgres_server import postgres_url  # noqa: F401  # a fixture
from tests.support.tenants import caller, tenants

ADA, BOB = "hd_ada_0123456789", "hd_bob_0123456789"
TURNS = 20
DAY_S = 86400.0


async def counting(call: EngineCall) -> None:
    """Says how many messages it was shown."""
    text = str(len(call.json["messages"]))
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    call.whole(
        200, {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    )


class SetClock:
    """As far ahead as it is set."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def two(url: str, clock: SetClock) -> AsyncIterator[tuple[list[AsyncOpenAI], list[AsyncOpenAI], list[Rig]]]:
    """Clients of Ada and of Bob, each at both gateways."""
    known = tenants(**{ADA: caller("acme/search"), BOB: caller("bobs/shop")})
    stores = {"url": url}
    async with (
        gateway_over(counting, stores=stores, tenants=known, wall_clock=clock) as first,
        gateway_over(counting, stores=stores, tenants=known, wall_clock=clock) as second,
    ):
        rigs = [first, second]
        clients = [
            [
                AsyncOpenAI(base_url=f"http://127.0.0.1:{rig.port}/v1", api_key=key, max_retries=0, timeout=60)
                for rig in rigs
            ]
            for key in (ADA, BOB)
        ]
        try:
            yield clients[0], clients[1], rigs
        finally:
            for client in (*clients[0], *clients[1]):
                await client.close()


async def test_a_conversation_alternates_between_gateways(postgres_url: str) -> None:  # noqa: F811  # the fixture
    clock = SetClock()
    async with two(postgres_url, clock) as (clients, _, rigs):
        previous: Any = None
        for turn, client in zip(range(TURNS), cycle(clients), strict=False):
            response = await client.responses.create(
                model=requests.MODEL, input=f"Turn {turn}.", previous_response_id=previous
            )
            assert response.output_text == str(2 * turn + 1), "it was shown all turns before"
            other = clients[(turn + 1) % 2]
            assert (await other.responses.retrieve(response.id)).output_text == response.output_text
            previous, clock.now = response.id, clock.now + 2 * DAY_S
        asked = [one async for one in clients[1].responses.input_items.list(previous, order="asc", limit=7)]
        assert len(asked) == 2 * TURNS - 1
        shown = json.loads(rigs[1].engine.calls[-1].body)["messages"]
        assert shown[0]["content"] == "Turn 0.", "used for the last time long after it was new"
        await clients[0].responses.delete(previous)
        for client in clients:
            with pytest.raises(openai.NotFoundError):
                await client.responses.retrieve(previous)
            with pytest.raises(openai.BadRequestError):
                await client.responses.create(model=requests.MODEL, input="x", previous_response_id=previous)


async def test_what_is_not_used_expires(postgres_url: str) -> None:  # noqa: F811  # the fixture
    clock = SetClock()
    async with two(postgres_url, clock) as (clients, _, _rigs):
        response = await clients[0].responses.create(model=requests.MODEL, input="Once.")
        clock.now += 29 * DAY_S
        assert (await clients[1].responses.retrieve(response.id)).id == response.id
        clock.now += 2 * DAY_S
        with pytest.raises(openai.NotFoundError):
            await clients[1].responses.retrieve(response.id)


async def test_both_add_to_one_conversation_at_once(postgres_url: str) -> None:  # noqa: F811  # the fixture
    async with two(postgres_url, SetClock()) as (clients, _, _rigs):
        conversation = await clients[0].conversations.create()
        await asyncio.gather(
            *(
                client.responses.create(model=requests.MODEL, input=f"{turn}", conversation=conversation.id)
                for turn in range(5)
                for client in clients
            )
        )
        items = [one async for one in clients[0].conversations.items.list(conversation.id, order="asc")]
        assert [one.role for one in items] == ["user", "assistant"] * 10, "a turn stays together"
        assert len({one.id for one in items}) == 20


async def test_nobody_reads_what_is_anothers(postgres_url: str) -> None:  # noqa: F811  # the fixture
    async with two(postgres_url, SetClock()) as (ada, bob, rigs):
        mine: Any = [{"role": "user", "content": "A secret."}]
        response = await ada[0].responses.create(model=requests.MODEL, input=mine)
        conversation = await ada[0].conversations.create(items=[{"type": "message", **mine[0]}])
        [item] = [one async for one in ada[0].conversations.items.list(conversation.id)]
        chat = await ada[0].chat.completions.create(model=requests.MODEL, messages=mine, store=True)
        for thief in bob:
            tries: list[Any] = [
                thief.responses.retrieve(response.id),
                thief.responses.delete(response.id),
                thief.responses.cancel(response.id),
                thief.responses.input_items.list(response.id),
                thief.conversations.retrieve(conversation.id),
                thief.conversations.update(conversation.id, metadata={"a": "b"}),
                thief.conversations.delete(conversation.id),
                thief.conversations.items.list(conversation.id),
                thief.conversations.items.create(conversation.id, items=[{"type": "message", **mine[0]}]),
                thief.conversations.items.retrieve(item.id, conversation_id=conversation.id),
                thief.conversations.items.delete(item.id, conversation_id=conversation.id),
                thief.responses.create(model=requests.MODEL, input="x", conversation=conversation.id),
                thief.chat.completions.retrieve(chat.id),
                thief.chat.completions.update(chat.id, metadata={"a": "b"}),
                thief.chat.completions.delete(chat.id),
                thief.chat.completions.messages.list(chat.id),
            ]
            for one in tries:
                with pytest.raises(openai.NotFoundError) as refused:
                    await one
                assert "secret" not in str(refused.value)
            with pytest.raises(openai.BadRequestError, match="there is no response"):
                await thief.responses.create(model=requests.MODEL, input="x", previous_response_id=response.id)
            own = await thief.conversations.create()
            with pytest.raises(openai.NotFoundError):
                await thief.conversations.items.retrieve(item.id, conversation_id=own.id)
            reference: Any = [{"type": "item_reference", "id": item.id}]
            with pytest.raises(openai.BadRequestError):
                await thief.responses.create(model=requests.MODEL, input=reference, conversation=own.id)
            assert [one async for one in thief.chat.completions.list()] == []
        assert (await ada[1].responses.retrieve(response.id)).id == response.id
        assert len([one async for one in ada[1].conversations.items.list(conversation.id)]) == 1
        assert [one.id async for one in ada[1].chat.completions.list()] == [chat.id]
        for rig in rigs:
            await rig.wait_empty()
