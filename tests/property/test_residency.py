"""Whatever fails, is slow, is kept or is judged: the words of a key of one region are never sent out of it."""

import asyncio
from typing import Any

import hypothesis
from hypothesis import strategies as st

from heterodyne.caching.settings import CacheSettings
from heterodyne.domain.tenant import Scopes, TenantSnapshot
from heterodyne.safety.settings import GuardSettings
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import Behaviour, EngineCall, ScriptedEngine
from tests.support.gateways import gateway_over
from tests.support.outside_guard import OutsideGuard, outside_guard
from tests.support.raw_client import ask
from tests.support.requests import MODEL, chat, chat_body, post
from tests.support.tenants import bearer, caller, tenants

HERE, AWAY = "eu", "us"
WORDS = "zyzzyva-of-the-pinned"
BIGGER, EMBEDDER, JUDGE = "bigger", "embedder", "judge"

ENGINES: dict[str, Behaviour] = {
    "answers": behaviours.answer(),
    "streams": behaviours.stream(4),
    "is slow": behaviours.stream(4, delay_s=0.02),
    "refuses": behaviours.refuse(500),
    "is full": behaviours.refuse(503),
    "breaks off": behaviours.stream_then(tokens=2),
}
PINNED = caller(scopes=(Scopes(regions=(HERE,)),))
ANYWHERE = caller("acme/other")
KEYS: TenantSnapshot = tenants(pinned=PINNED, anywhere=ANYWHERE)


def requests_of(key: str) -> list[bytes]:
    asked = [{"role": "user", "content": WORDS}]
    line = bearer(key)
    return [
        chat(line, messages=asked),
        chat(line, messages=asked, stream=True),
        chat(line, messages=asked, temperature=0),
        post("/v1/messages", chat_body(messages=asked, max_tokens=8), line),
        post("/v1/responses", chat_body(messages=None, input=WORDS), line),
    ]


class World:
    """Engines here, engines elsewhere that heard of it, and everything that may send words about."""

    def __init__(self, here: tuple[str, ...], outside: OutsideGuard, *, has_caches: bool, has_guards: bool) -> None:
        self.here = [ScriptedEngine(ENGINES[name], model=MODEL) for name in here]
        self.away = {name: ScriptedEngine(behaviours.answer_everything(), model=name) for name in (BIGGER, EMBEDDER)}
        self.away[JUDGE] = ScriptedEngine(behaviours.answer("safe"), model=JUDGE)
        self.rival = ScriptedEngine(behaviours.answer_everything(), model=MODEL)
        self.outside = outside
        judge = GuardSettings(guard="judge", action="flag", judge_model=JUDGE, direction="both", timeout_ms=5000)
        cache = CacheSettings(semantic="serve", embedding_model=EMBEDDER, ttl_s=60)
        self.settings: dict[str, Any] = {
            "pool": {"region": HERE},
            "rivals": {"away": (self.rival, {"region": AWAY})},
            "beside": self.away,
            "model": {"fallbacks": (BIGGER,)},
            "routing": {"hedge_share": 1.0, "hedge_min_s": 0.005, "hedge_factor_max": 1.0},
            "tenants": KEYS,
            "caches": {"kept": cache} if has_caches else {},
            "guards": {"judged": judge, "elsewhere": outside.settings(action="flag", direction="both")}
            if has_guards
            else {},
        }

    async def ask(self, key: str, requests: list[bytes]) -> None:
        """All of them, some at once."""
        async with gateway_over(*self.here, **self.settings) as rig, asyncio.TaskGroup() as group:
            for request in requests:
                group.create_task(ask(rig.port, request))

    @property
    def sent_away(self) -> list[EngineCall]:
        """Calls outside of the region that carry the words."""
        engines = (self.rival, *self.away.values())
        return [call for engine in engines for call in engine.calls if WORDS.encode() in call.body]

    @property
    def heard_outside(self) -> bool:
        return any(WORDS in str(asked) for asked in self.outside.asked)


@hypothesis.settings(max_examples=25, derandomize=True, database=None)
@hypothesis.given(
    here=st.lists(st.sampled_from(sorted(ENGINES)), min_size=1, max_size=2).map(tuple),
    picked=st.lists(st.integers(0, 4), min_size=1, max_size=6),
    has_caches=st.booleans(),
    has_guards=st.booleans(),
)
def test_no_word_of_a_pinned_key_leaves_its_region(
    here: tuple[str, ...], picked: list[int], has_caches: bool, has_guards: bool
) -> None:
    async def run() -> None:
        async with outside_guard() as outside:
            world = World(here, outside, has_caches=has_caches, has_guards=has_guards)
            known = requests_of("pinned")
            await world.ask("pinned", [known[number] for number in picked])
            assert world.sent_away == []
            assert not world.heard_outside

    asyncio.run(run())


async def test_the_words_of_another_key_do_leave_it_by_every_way_there_is() -> None:
    """Otherwise the test above would see nothing."""
    async with outside_guard() as outside:
        world = World(("refuses",), outside, has_caches=True, has_guards=True)
        await world.ask("anywhere", requests_of("anywhere"))
        assert any(WORDS.encode() in call.body for call in world.rival.calls)
        assert {name for name, engine in world.away.items() if engine.calls} >= {EMBEDDER, JUDGE}
        assert world.heard_outside


async def test_an_outside_guard_in_the_region_is_asked() -> None:
    async with outside_guard() as outside:
        world = World(("answers",), outside, has_caches=False, has_guards=True)
        world.settings["guards"] = {"near": outside.settings(region=HERE)}
        await world.ask("pinned", requests_of("pinned")[:1])
        assert world.heard_outside
        assert world.sent_away == []
