"""Kept answers that are dropped are given no more: by tag, model and project, here and where several keep them."""

import asyncio

import pytest

from heterodyne.caching.settings import CacheSettings
from heterodyne.domain.cache_drop import CacheDrop
from heterodyne.gateway.caching.answer_cache import SWEPT_AT_ONCE
from heterodyne.testing.behaviours import chat_answer, stream
from heterodyne.testing.scripted_engine import EngineCall
from tests.caching.test_answers_again import KEPT, outcome, same
from tests.caching.test_similar_answers import EMBED, SERVES, embed, recipe, served_answer, teach
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import ask
from tests.support.requests import MODEL, post
from tests.support.tenants import bearer, caller, tenants


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


def drop(rig: Rig, clock: Clock, **what: str) -> None:
    rig.gateway.take_drops((CacheDrop(at=clock(), **what),))


@pytest.mark.parametrize(
    ("what", "is_gone"),
    [
        ({"tag": "doc-1"}, True),
        ({"tag": "faq"}, True),
        ({"tag": "doc-2"}, False),
        ({"model": MODEL}, True),
        ({"model": "other"}, False),
        ({"project": "local/local"}, True),
        ({"project": "acme/a"}, False),
        ({"tag": "doc-1", "model": MODEL, "project": "local/local"}, True),
        ({"tag": "doc-1", "model": "other"}, False),
        ({}, True),
    ],
)
async def test_what_has_all_that_is_named_is_asked_anew_and_kept_again(what: dict[str, str], is_gone: bool) -> None:
    clock = Clock()
    kept = {"kept": CacheSettings(tags=("faq",))}
    async with gateway_over(stream(), caches=kept, wall_clock=clock) as rig:
        tagged = same(max_tokens=3).replace(b"\r\n\r\n", b"\r\nx-heterodyne-cache-tags: doc-1, doc-9\r\n\r\n", 1)
        assert outcome(await ask(rig.port, tagged)) == "miss"
        assert outcome(await ask(rig.port, same(max_tokens=3))) == "hit"
        drop(rig, clock, **what)
        assert len(rig.gateway._answer_cache._kept) == (0 if is_gone else 1)
        assert outcome(await ask(rig.port, same(max_tokens=3))) == ("miss" if is_gone else "hit")
        assert outcome(await ask(rig.port, same(max_tokens=3))) == "hit"


async def test_another_project_s_answers_stay() -> None:
    clock, two = Clock(), tenants(one=caller("acme/one"), two=caller("acme/two"))
    rig_of = gateway_over(stream(), caches=KEPT, tenants=two, waits_ready=False, wall_clock=clock)
    async with rig_of as rig:
        await rig.wait(lambda: rig.holds().replicas_takeable == 1)

        async def asked(key: str) -> str:
            return outcome(await ask(rig.port, same().replace(b"\r\n\r\n", f"\r\n{bearer(key)}\r\n\r\n".encode(), 1)))

        assert [await asked("one"), await asked("two")] == ["miss", "miss"]
        drop(rig, clock, project="acme/one")
        assert [await asked("one"), await asked("two")] == ["miss", "hit"]


async def test_an_answer_that_is_under_way_is_not_kept() -> None:
    clock, begun, go_on = Clock(), asyncio.Event(), asyncio.Event()

    async def slow(call: EngineCall) -> None:
        begun.set()
        await go_on.wait()
        call.whole(200, chat_answer("of the old document"))

    async with gateway_over(slow, caches=KEPT, wall_clock=clock) as rig:
        first = asyncio.ensure_future(ask(rig.port, same()))
        await begun.wait()
        drop(rig, clock, model=MODEL)
        go_on.set()
        assert outcome(await first) == "miss"
        assert outcome(await ask(rig.port, same())) == "miss"
        assert outcome(await ask(rig.port, same())) == "hit"


async def test_answers_to_prompts_that_mean_the_same_go_with_it() -> None:
    clock = Clock()
    async with gateway_over(recipe, beside={EMBED: embed}, caches={"near": SERVES}, wall_clock=clock) as rig:
        await teach(rig)
        await served_answer(rig)
        drop(rig, clock, model=MODEL)
        asked = len(rig.engine.calls)
        answer = await ask(rig.port, post("/v1/chat/completions", EGG))
        assert outcome(answer) == "miss"
        assert len(rig.engine.calls) == asked + 1


EGG = b'{"model":"%b","temperature":0,"messages":[{"role":"user","content":"how do I boil an egg?"}]}' % MODEL.encode()


async def test_memory_is_given_back_bit_by_bit() -> None:
    clock = Clock()
    async with gateway_over(stream(), caches=KEPT, wall_clock=clock) as rig:
        await ask(rig.port, same())
        kept = rig.gateway._answer_cache._kept
        [answer] = [kept._answers[key] for key in kept._answers]
        for number in range(2 * SWEPT_AT_ONCE):
            kept._answers[b"%d" % number] = answer
        drop(rig, clock, model=MODEL)
        assert 0 < len(kept) <= SWEPT_AT_ONCE + 1
        await rig.wait(lambda: len(kept) == 0)


@pytest.mark.parametrize("tags", ["a b", "x" * 65, ",".join(f"t{number}" for number in range(17)), "ä"])
async def test_tags_that_cannot_be_are_refused_by_their_header(tags: str) -> None:
    async with gateway_over(stream(), caches=KEPT) as rig:
        header = f"\r\nx-heterodyne-cache-tags: {tags}\r\n\r\n".encode("latin-1")
        answer = await ask(rig.port, same().replace(b"\r\n\r\n", header, 1))
        assert (answer.status, answer.error["param"]) == (400, "x-heterodyne-cache-tags")
