"""What a user of OpenAI's own client sees of streams that run in the background: left, and gone on with elsewhere."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI, OpenAI

from heterodyne.gateway.stored import event_log
from heterodyne.ports.document_store import Document, DocumentQuery
from heterodyne.stores.open_store import documents_in
from heterodyne.stores.sqlite.database import SqliteDatabase
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import Behaviour, EngineCall
from tests.support import requests
from tests.support.gateways import Rig, gateway_over
from tests.support.tenants import caller, tenants

ADA, BOB = "hd_ada_0123456789", "hd_bob_0123456789"
WORDS = ["One", " two", " three", " four", " five"]


class PacedEngine:
    """Says a word whenever it is let to."""

    def __init__(self) -> None:
        self._let = asyncio.Semaphore(0)

    def let(self, words: int) -> None:
        for _ in range(words):
            self._let.release()

    async def __call__(self, call: EngineCall) -> None:
        call.head(200, *behaviours.EVENT_STREAM)
        for word in WORDS:
            await self._let.acquire()
            call.event(behaviours.chat_event(word))
        call.event(behaviours.chat_event(None, finish_reason="stop"))
        call.event(b"[DONE]")
        call.write(b"0\r\n\r\n")


@asynccontextmanager
async def gateways(tmp_path: Path, *engines: Behaviour) -> AsyncIterator[list[tuple[Rig, AsyncOpenAI]]]:
    """As many as engines, on one store."""
    known = tenants(**{ADA: caller("acme/search"), BOB: caller("bobs/shop")})
    stores = {"url": f"sqlite:{tmp_path / 'documents.db'}"}
    async with asyncio.timeout(120), AsyncExitStack() as stack:
        rigs = [
            await stack.enter_async_context(gateway_over(engine, stores=stores, tenants=known)) for engine in engines
        ]
        yield [(rig, await stack.enter_async_context(client_of(rig))) for rig in rigs]


def client_of(rig: Rig, key: str = ADA) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"http://127.0.0.1:{rig.port}/v1", api_key=key, max_retries=0, timeout=60)


async def begun(client: AsyncOpenAI, **asked: Any) -> Any:
    return await client.responses.create(model=requests.MODEL, input="Count.", background=True, stream=True, **asked)


async def all_of(stream: Any) -> list[Any]:
    return [event async for event in stream]


def text_of(events: list[Any]) -> str:
    return "".join(event.delta for event in events if event.type == "response.output_text.delta")


async def test_a_stream_in_the_background_tells_its_id_first_and_then_everything(tmp_path: Path) -> None:
    engine = PacedEngine()
    async with gateways(tmp_path, engine) as [(rig, client)]:
        stream = await begun(client)
        first = await anext(stream)
        assert (first.type, first.response.status, first.sequence_number) == ("response.created", "queued", 0)
        assert (await client.responses.retrieve(first.response.id)).status == "queued"
        engine.let(len(WORDS))
        events = [first, *await all_of(stream)]
        assert [event.sequence_number for event in events] == list(range(len(events)))
        assert [event.type for event in events[:4]] == [
            "response.created",
            "response.queued",
            "response.in_progress",
            "response.output_item.added",
        ]
        assert events[-1].type == "response.completed"
        assert events[-1].response.output_text == text_of(events) == "".join(WORDS)
        kept = await client.responses.retrieve(first.response.id)
        assert (kept.status, kept.output_text) == ("completed", "".join(WORDS))
        await rig.wait_empty()


async def test_who_leaves_goes_on_where_the_stream_was_here_and_elsewhere(tmp_path: Path) -> None:
    engine = PacedEngine()
    async with gateways(tmp_path, engine, behaviours.answer()) as [(rig, here), (other, there)]:
        stream = await begun(here)
        seen = [await anext(stream)]
        engine.let(2)
        while not text_of(seen):
            seen.append(await anext(stream))
        await stream.close()
        id, last = seen[0].response.id, seen[-1].sequence_number
        follow_here = await here.responses.retrieve(id, stream=True, starting_after=last)
        follow_there = await there.responses.retrieve(id, stream=True, starting_after=last)
        second = [await anext(follow_here), await anext(follow_there)]
        assert [event.sequence_number for event in second] == [last + 1] * 2
        engine.let(len(WORDS))
        for first, rest in zip(second, (follow_here, follow_there), strict=True):
            events = [*seen, first, *await all_of(rest)]
            assert [event.sequence_number for event in events] == list(range(len(events)))
            assert (events[-1].type, text_of(events)) == ("response.completed", "".join(WORDS))
        again = [await all_of(await one.responses.retrieve(id, stream=True)) for one in (here, there)]
        assert again[0] == again[1], "told again, it is the same"
        assert text_of(again[0]) == "".join(WORDS)
        end = again[0][-1].sequence_number
        assert await all_of(await there.responses.retrieve(id, stream=True, starting_after=end)) == []
        for rig_of in (rig, other):
            await rig_of.wait_empty()


async def test_a_cancelled_stream_ends_for_whoever_follows_it(tmp_path: Path) -> None:
    engine = PacedEngine()
    async with gateways(tmp_path, engine, behaviours.answer()) as [(rig, here), (_, there)]:
        stream = await begun(here)
        id = (await anext(stream)).response.id
        followed = await there.responses.retrieve(id, stream=True)
        assert (await there.responses.cancel(id)).status == "cancelled"
        for events in (await all_of(stream), await all_of(followed)):
            assert (events[-1].type, events[-1].code) == ("error", "response_cancelled")
        await rig.wait_empty()


async def test_a_refused_stream_says_why_to_whoever_follows_it(tmp_path: Path) -> None:
    async with gateways(tmp_path, behaviours.refuse(400, "no such thing")) as [(rig, client)]:
        events = await all_of(await begun(client))
        assert [event.type for event in events] == ["response.created", "response.queued", "response.failed"]
        assert "no such thing" in events[-1].response.error.message
        assert (await client.responses.retrieve(events[0].response.id)).status == "failed"
        await rig.wait_empty()


async def test_a_stream_that_breaks_has_failed_in_the_store_as_well(tmp_path: Path) -> None:
    async with gateways(tmp_path, behaviours.stream_then(tokens=2, then="reset")) as [(rig, client)]:
        events = await all_of(await begun(client))
        assert events[-1].type == "response.failed"
        kept = await client.responses.retrieve(events[0].response.id)
        assert (kept.status, kept.background) == ("failed", True)
        await rig.wait_empty()


async def test_what_was_not_begun_as_a_stream_in_the_background_is_not_followed(tmp_path: Path) -> None:
    async with gateways(tmp_path, behaviours.answer()) as [(rig, client)]:
        whole = await client.responses.create(model=requests.MODEL, input="Go.")
        waiting = await client.responses.create(model=requests.MODEL, input="Go.", background=True)
        for id in (whole.id, waiting.id):
            with pytest.raises(openai.BadRequestError, match="background"):
                await client.responses.retrieve(id, stream=True)
        with pytest.raises(openai.NotFoundError):
            await client.responses.retrieve("resp_0", stream=True)
        await rig.wait_empty()


async def test_nobody_follows_what_is_anothers_and_nothing_stays_of_what_is_deleted(tmp_path: Path) -> None:
    engine = PacedEngine()
    async with gateways(tmp_path, engine) as [(rig, client)]:
        stream = await begun(client)
        id = (await anext(stream)).response.id
        async with client_of(rig, BOB) as stranger:
            with pytest.raises(openai.NotFoundError):
                await stranger.responses.retrieve(id, stream=True)
        for wrong in ("-1", "x", "1" * 12):
            with pytest.raises(openai.BadRequestError) as refused:
                await client.responses.retrieve(id, stream=True, extra_query={"starting_after": wrong})
            assert refused.value.param == "starting_after"
        await client.responses.delete(id)
        events = await all_of(stream)
        assert (events[-1].type, events[-1].code) == ("error", "response_deleted")
        with pytest.raises(openai.NotFoundError):
            await client.responses.retrieve(id, stream=True)
        await rig.wait_empty()
    database = await SqliteDatabase.open(tmp_path / "documents.db")
    query = DocumentQuery(project="acme/search", kind="response.events", limit=10, now=time.time())
    assert await documents_in(database).page(query) == ()
    await database.close()


@pytest.mark.parametrize("status", ["in_progress", "completed"])
async def test_a_stream_whose_worker_died_ends_with_how_its_response_stands(tmp_path: Path, status: str) -> None:
    now = time.time()
    response = {"id": "resp_1", "object": "response", "status": status, "background": True, "output": []}
    begun_at = {"project": "acme/search", "created_at": now - 3600, "expires_at": now + 3600}
    kept = {"response": response, "input": [], "running_until": now - 1800, "is_streamed": True}
    told = {"type": "response.created", "sequence_number": 0, "response": response}
    database = await SqliteDatabase.open(tmp_path / "documents.db")
    store = documents_in(database)
    await store.add([Document(id="resp_1", kind="response", body=json.dumps(kept).encode(), **begun_at)])
    block = json.dumps([told], separators=(",", ":")).encode()
    await store.add([Document(id="resp_1.0", kind="response.events", parent="resp_1", body=block, **begun_at)])
    await database.close()
    async with gateways(tmp_path, behaviours.answer()) as [(rig, client)]:
        events = await all_of(await client.responses.retrieve("resp_1", stream=True))
        ended = "failed" if status == "in_progress" else status
        assert [event.type for event in events] == ["response.created", f"response.{ended}"]
        assert (events[-1].sequence_number, events[-1].response.status) == (1, ended)
        await rig.wait_empty()


async def test_of_more_events_than_are_kept_the_last_is_told_and_that_others_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_log, "EVENTS_BYTES_MAX", 3000)
    monkeypatch.setattr(event_log, "HELD_BYTES_MAX", 500)
    engine = PacedEngine()
    async with gateways(tmp_path, engine, behaviours.answer()) as [(rig, here), (_, there)]:
        stream = await begun(here)
        engine.let(len(WORDS))
        live = await all_of(stream)
        assert [event.sequence_number for event in live] == list(range(len(live)))
        id, end = live[0].response.id, live[-1].sequence_number
        told = await all_of(await there.responses.retrieve(id, stream=True))
        numbers = [event.sequence_number for event in told]
        assert numbers == [*range(len(told) - 1), end]
        assert 2 < len(told) < len(live)
        assert (told[-1].type, told[-1].response.output_text) == ("response.completed", "".join(WORDS))
        raw = await there.responses.with_raw_response.retrieve(id, extra_query={"stream": "true"})
        assert f": events {numbers[-2] + 1} to {end - 1} are not kept\n\n" in raw.text
        rest = await all_of(await there.responses.retrieve(id, stream=True, starting_after=end - 1))
        assert [event.sequence_number for event in rest] == [end]
        await rig.wait_empty()


async def test_the_client_that_blocks_leaves_and_goes_on_as_the_other_does(tmp_path: Path) -> None:
    engine = PacedEngine()
    async with gateways(tmp_path, engine, behaviours.answer()) as [(rig, _), (other, _)]:

        def left_and_followed() -> tuple[list[Any], Any]:
            urls = [f"http://127.0.0.1:{one.port}/v1" for one in (rig, other)]
            here, there = (OpenAI(base_url=url, api_key=ADA, max_retries=0, timeout=60) for url in urls)
            with here, there:
                stream = here.responses.create(model=requests.MODEL, input="Count.", background=True, stream=True)
                seen = [next(stream), next(stream)]
                stream.close()
                engine.let(len(WORDS))
                id, last = seen[0].response.id, seen[-1].sequence_number
                seen += there.responses.retrieve(id, stream=True, starting_after=last)
                return seen, there.responses.retrieve(id)

        events, kept = await asyncio.to_thread(left_and_followed)
        assert [event.sequence_number for event in events] == list(range(len(events)))
        assert (events[-1].type, text_of(events), kept.status) == ("response.completed", "".join(WORDS), "completed")
        await rig.wait_empty()
