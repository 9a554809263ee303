"""Whatever fails, is slow, is kept, tried or judged: the words of a key of one region are never sent out of it."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import hypothesis
import msgspec
import pytest
from hypothesis import strategies as st
from msgspec import structs
from redis import Redis

from heterodyne.caching.settings import CacheSettings
from heterodyne.domain.rollout_split import RolloutSplit
from heterodyne.domain.tenant import Caller, Scopes, TenantSnapshot
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.gateway.stored.inner_call import KEY_ID
from heterodyne.routing.cascade.settings import CascadeSettings
from heterodyne.safety.settings import GuardSettings
from heterodyne.stores.redis.answers import PREFIX
from heterodyne.supervisor.configured_replicas import model_rules, remote_replicas
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import Behaviour, EngineCall, ScriptedEngine
from heterodyne.wire.message import HttpRequest
from tests.support.cascades import ALIAS, CHEAP, fitted_file
from tests.support.examples import examples
from tests.support.gateways import Rig, gateway_over
from tests.support.outside_guard import OutsideGuard, outside_guard
from tests.support.raw_client import ask
from tests.support.redis_server import RedisServer
from tests.support.requests import MODEL, chat, chat_body, post
from tests.support.tenants import bearer, caller, tenants

HERE, AWAY = "eu", "us"
WORDS = "zyzzyva-of-the-pinned"
SENTINEL = "whoever-may-be-anywhere"
BIGGER, EMBEDDER, JUDGE = "bigger", "embedder", "judge"
LINE_S = 30.0

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
CHATS = "/v1/chat/completions"
COPIES = RolloutSplit(
    rollout="r", candidate_pools=("away",), baseline_pools=("pool",), share=0.0, copies_per_s=1e6
)  # every user's request is asked both sides


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    """A store of another region."""
    with pytest.MonkeyPatch.context() as patch, RedisServer(keeps=False) as server:
        patch.setenv("HETERODYNE_CACHE_KEY", "a secret of all gateways")
        yield server


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cascade that tries the cheap model first, and has what it kept looked at again."""
    return fitted_file(tmp_path_factory.mktemp("cascade"), "structure")


def bodies(words: str) -> list[tuple[str, bytes]]:
    asked = [{"role": "user", "content": words}]
    said = {"model": MODEL, "max_tokens": 8, "messages": asked}
    return [
        (CHATS, chat_body(messages=asked)),
        (CHATS, chat_body(messages=asked, stream=True)),
        (CHATS, chat_body(messages=asked, temperature=0)),
        (CHATS, chat_body(messages=asked, model=ALIAS)),
        ("/v1/messages", chat_body(messages=asked, max_tokens=8)),
        ("/v1/responses", chat_body(messages=None, input=words, store=False)),
        ("/v1/responses", chat_body(messages=None, input=words)),
        ("/v1/responses", chat_body(messages=None, input=words, background=True)),
        (CHATS, chat_body(messages=asked, store=True)),
        ("/v1/conversations", msgspec.json.encode({"items": [{"type": "message", "role": "user", "content": words}]})),
        ("/v1/messages/batches", msgspec.json.encode({"requests": [{"custom_id": "a", "params": said}]})),
    ]


class World:
    """Engines here, engines elsewhere that heard of it, and everything that may send words about."""

    def __init__(
        self,
        here: tuple[str, ...],
        outside: OutsideGuard,
        redis: RedisServer,
        fitted: Path,
        folder: Path,
        *,
        has_caches: bool,
        has_guards: bool,
    ) -> None:
        self.here = [ScriptedEngine(ENGINES[name], model=MODEL) for name in here]
        names = (BIGGER, EMBEDDER, CHEAP)
        self.away = {name: ScriptedEngine(behaviours.answer_everything(), model=name) for name in names}
        self.away[JUDGE] = ScriptedEngine(behaviours.answer("safe"), model=JUDGE)
        self.rival = ScriptedEngine(behaviours.answer_everything(), model=MODEL)
        self.leaving = ScriptedEngine(behaviours.answer_everything(), model=MODEL)  # KV elsewhere
        self.outside = outside
        self._folder = folder
        self._redis = Redis.from_url(redis.url)
        judge = GuardSettings(guard="judge", action="flag", judge_model=JUDGE, direction="both", timeout_ms=5000)
        cache = CacheSettings(semantic="serve", embedding_model=EMBEDDER, ttl_s=60)
        self.settings: dict[str, Any] = {
            "pool": {"region": HERE},
            "rivals": {
                "away": (self.rival, {"region": AWAY}),
                "leaving": (self.leaving, {"region": HERE, "engine": "vllm", "kv_store": "far"}),
            },
            "kv_stores": {"far": KvStoreSettings(medium="redis", capacity_gb=1.0, regions=(AWAY,))},
            "beside": self.away,
            "model": {"fallbacks": (BIGGER,), "aliases": (ALIAS,)},
            "routing": {"hedge_share": 1.0, "hedge_min_s": 0.005, "hedge_factor_max": 1.0},
            "tenants": KEYS,
            "cascades": {ALIAS: CascadeSettings(fitted=str(fitted), audit_share=1.0, judge_model=JUDGE)},
            "caches": {"kept": cache} if has_caches else {},
            "stores": {
                "cache_url": redis.url,
                "cache_region": AWAY,
                "fleet_url": redis.url,
                "url": f"sqlite:{folder / 'kept.db'}",
                "regions": (AWAY,),
            },
            "gateway": {"files_url": str(folder / "files"), "files_regions": (AWAY,)},
            "guards": {"judged": judge, "elsewhere": outside.settings(action="flag", direction="both")}
            if has_guards
            else {},
        }

    async def ask(self, key: str, asked: list[tuple[str, bytes]], *, has_rollout: bool = False) -> None:
        """All of them, some at once: by clients, and as lines of a batch."""
        async with gateway_over(*self.here, **self.settings) as rig, asyncio.TaskGroup() as group:
            if has_rollout:
                self.copy_requests(rig)
            for path, body in asked:
                group.create_task(ask(rig.port, post(path, body, bearer(key))))
                group.create_task(self.ask_line(rig, PINNED if key == "pinned" else ANYWHERE, path, body))

    async def ask_line(self, rig: Rig, owner: Caller, path: str, body: bytes) -> None:
        """As a worker asks a line of a batch: of itself, in the name of whoever asked for the batch."""
        headers = {
            b"host": b"localhost",
            b"content-type": b"application/json",
            b"x-heterodyne-class": b"batch",
            KEY_ID: owner.key.encode(),
        }
        http = HttpRequest(
            method=b"POST", path=path.encode(), query=b"", headers=headers, keep_alive=False, speaks_chunked=True
        )
        http.body = body
        call = rig.server.ask(http)
        try:
            assert await call.is_done_within(LINE_S)
        finally:
            call.abort()

    def copy_requests(self, rig: Rig) -> None:
        """A rollout to the replicas elsewhere is in its shadow stage."""
        settings = rig.gateway.settings
        rules = model_rules(settings)
        rules[MODEL] = structs.replace(rules[MODEL], split=COPIES)
        rig.gateway.apply(settings, remote_replicas(settings), rules, 1)

    def sent_away(self, words: str = WORDS) -> list[EngineCall]:
        """Calls outside of the region that carry the words."""
        engines = (self.rival, self.leaving, *self.away.values())
        return [call for engine in engines for call in engine.calls if words.encode() in call.body]

    def heard_outside(self) -> bool:
        return any(WORDS in str(asked) for asked in self.outside.asked)

    def kept_away(self) -> list[bytes]:
        """Answers in the store elsewhere."""
        return list(self._redis.scan_iter(PREFIX + b"*"))

    def reported_away(self) -> bytes:
        """All that is in the store elsewhere, of whatever kind."""
        return b"\n".join(self._redis.dump(key) or b"" for key in self._redis.scan_iter(b"*"))

    def written_away(self, words: str = WORDS) -> list[str]:
        """Of what is kept on disks elsewhere, that which has the words in it."""
        files = [one for one in self._folder.rglob("*") if one.is_file()]
        return sorted(one.name for one in files if words.encode() in one.read_bytes())

    def forget(self) -> None:
        self._redis.flushall()
        self._redis.close()


@hypothesis.settings(max_examples=examples(25), derandomize=True, database=None, deadline=None)
@hypothesis.given(
    here=st.lists(st.sampled_from(sorted(ENGINES)), min_size=1, max_size=2).map(tuple),
    picked=st.lists(st.integers(0, len(bodies(WORDS)) - 1), min_size=1, max_size=4),
    has=st.sets(st.sampled_from(["caches", "guards", "a rollout"])),
)
def test_no_word_of_a_pinned_key_leaves_its_region(
    redis: RedisServer,
    fitted: Path,
    here: tuple[str, ...],
    picked: list[int],
    has: set[str],
) -> None:
    async def run() -> None:
        async with AsyncExitStack() as stack, outside_guard() as outside:
            folder = Path(stack.enter_context(TemporaryDirectory()))
            world = World(here, outside, redis, fitted, folder, has_caches="caches" in has, has_guards="guards" in has)
            known = bodies(WORDS)
            try:
                asked = [known[number] for number in picked]
                await world.ask("pinned", asked, has_rollout="a rollout" in has)
                assert world.sent_away() == []
                assert not world.heard_outside()
                assert world.kept_away() == []
                assert WORDS.encode() not in world.reported_away()
                assert world.written_away() == []
            finally:
                world.forget()

    asyncio.run(run())


async def test_the_words_of_another_key_do_leave_it_by_every_way_there_is(
    redis: RedisServer, fitted: Path, tmp_path: Path
) -> None:
    """Otherwise the test above would see nothing."""
    async with outside_guard() as outside:
        world = World(("refuses",), outside, redis, fitted, tmp_path, has_caches=True, has_guards=True)
        try:
            await world.ask("anywhere", bodies(WORDS))
            assert any(WORDS.encode() in call.body for call in world.rival.calls)
            assert any(WORDS.encode() in call.body for call in world.leaving.calls)
            assert any(name.startswith("kept.db") for name in world.written_away())
            assert any(name.startswith("file-") for name in world.written_away())
            assert {name for name, engine in world.away.items() if engine.calls} >= {EMBEDDER, JUDGE, CHEAP}
            assert world.heard_outside()
            assert world.kept_away() != []
            assert world.reported_away() != b""
        finally:
            world.forget()


async def test_a_rollout_s_copies_are_of_those_alone_who_may_be_anywhere(
    redis: RedisServer, fitted: Path, tmp_path: Path
) -> None:
    async with outside_guard() as outside:
        world = World(("answers",), outside, redis, fitted, tmp_path, has_caches=False, has_guards=False)
        async with gateway_over(*world.here, **world.settings) as rig:
            world.copy_requests(rig)
            for key, words in (("pinned", WORDS), ("anywhere", SENTINEL)):
                asked = [{"role": "user", "content": words}]
                # Without a hedge: this replica alone answers, so that what comes elsewhere is a copy.
                body = chat("x-heterodyne-region: eu", bearer(key), messages=asked)
                assert (await ask(rig.port, body)).status == 200
            await rig.wait(lambda: any(SENTINEL.encode() in call.body for call in world.rival.calls))
        assert world.sent_away() == []
        world.forget()


async def test_an_outside_guard_in_the_region_is_asked(redis: RedisServer, fitted: Path, tmp_path: Path) -> None:
    async with outside_guard() as outside:
        world = World(("answers",), outside, redis, fitted, tmp_path, has_caches=False, has_guards=True)
        world.settings["guards"] = {"near": outside.settings(region=HERE)}
        await world.ask("pinned", bodies(WORDS)[:1])
        assert world.heard_outside()
        assert world.sent_away() == []
        world.forget()


async def test_a_store_in_the_region_keeps_what_was_answered(redis: RedisServer, fitted: Path, tmp_path: Path) -> None:
    async with outside_guard() as outside:
        world = World(("answers",), outside, redis, fitted, tmp_path, has_caches=True, has_guards=False)
        world.settings["stores"] = {"cache_url": redis.url, "cache_region": HERE}
        try:
            await world.ask("pinned", bodies(WORDS)[2:3])
            assert world.kept_away() != []
        finally:
            world.forget()
