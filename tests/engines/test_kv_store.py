"""What one vLLM has computed another reads from a store that both write to: `-s` prints what that took.

By LMCache's servers with a Redis behind them, and by a folder with vLLM's own example of a connector.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heterodyne.domain.kv_origin import KvOrigin
from heterodyne.fleet.free_ports import free_ports
from heterodyne.fleet.kv_settings import KvStoreSettings
from tests.engines.kv_fleet import FIRST, LOG, SECOND, KvFleet, Turn, kv_fleet, wait
from tests.engines.running_lmcache import RunningLmcache
from tests.engines.running_vllm import RunningVllm, alone_on
from tests.support.redis_server import RedisServer
from tests.support.tenants import caller, tenants

pytestmark = pytest.mark.timeout(2400)
HITS = "vllm:external_prefix_cache_hits_total"
TOLD = "--enable-prompt-tokens-details"
Engines = tuple[RunningVllm, RunningVllm]


def two(folder: Path, name: str, configs: tuple[str, str]) -> Iterator[Engines]:
    """One for each core, of which each is told of the store in its own words."""
    engines = tuple(
        RunningVllm(folder, TOLD, "--kv-transfer-config", config, name=f"{name}-{core}", environment=alone_on(core))
        for core, config in enumerate(configs)
    )
    try:
        for engine in engines:
            engine.start()
        for engine in engines:
            engine.wait_ready()
        yield engines[0], engines[1]
    finally:
        for engine in engines:
            engine.kill()


@pytest.fixture(scope="module")
def redis() -> Iterator[tuple[RedisServer, int]]:
    port = free_ports(1)[0]
    with RedisServer(keeps=False, port=port) as server:
        yield server, port


@pytest.fixture(scope="module")
def beside(folder: Path, redis: tuple[RedisServer, int]) -> Iterator[tuple[RunningLmcache, RunningLmcache]]:
    """LMCache's servers, one for each engine."""
    first = RunningLmcache(folder, redis[1], name="lmcache-0")
    try:
        second = RunningLmcache(folder, redis[1], name="lmcache-1")
        try:
            yield first, second
        finally:
            second.kill()
    finally:
        first.kill()


@pytest.fixture(scope="module")
def by_lmcache(folder: Path, beside: tuple[RunningLmcache, RunningLmcache]) -> Iterator[Engines]:
    yield from two(folder, "lmcached", (beside[0].config, beside[1].config))


@pytest.fixture(scope="module")
def by_folder(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engines]:
    shared = {"shared_storage_path": str(tmp_path_factory.mktemp("shared"))}
    config = json.dumps({"kv_connector": "ExampleConnector", "kv_role": "kv_both", "kv_connector_extra_config": shared})
    yield from two(folder, "example", (config, config))


async def read_by_the_other(fleet: KvFleet, engines: Engines, question: str, is_kept: Callable[[], bool]) -> Turn:
    """One computes, and the other has the same prompt from the store, by its own count, and the same answer."""
    messages = [{"role": "user", "content": f"{question} {LOG}"}]
    computed = await fleet.turn(messages, FIRST)
    await wait(is_kept)
    before = engines[1].counted(HITS)
    read = await fleet.turn(messages, SECOND, KvOrigin.STORE)
    hits = engines[1].counted(HITS) - before
    assert (computed.replica, read.replica, read.text) == (FIRST, SECOND, computed.text)
    assert hits > 0.8 * read.usage["prompt_tokens"]
    assert read.cached_tokens >= hits
    other = await fleet.turn([{"role": "user", "content": f"Now: {question} {LOG}"}], SECOND)
    print(
        f"\n{read.usage['prompt_tokens']} prompt tokens, {hits:.0f} from the store; first token after "
        f"{read.ttft_s * 1e3:.0f} ms read, {other.ttft_s * 1e3:.0f} ms computed"
    )
    return read


async def test_lmcache_has_for_one_what_another_computed(by_lmcache: Engines, redis: tuple[RedisServer, int]) -> None:
    store = {"redis": KvStoreSettings(medium="redis", capacity_gb=1.0)}
    urls = (by_lmcache[0].url, by_lmcache[1].url)
    async with kv_fleet(urls, engine="vllm", kv_transfer="lmcache", stores=store) as fleet:
        for question in ("Summarise the log.", "What is lit?"):
            before = redis[0].used_bytes()
            moved = lambda was=before: redis[0].used_bytes() - was > 10e6  # noqa: E731
            await read_by_the_other(fleet, by_lmcache, question, moved)
            print(f"{(redis[0].used_bytes() - before) / 1e6:.1f} MB more in Redis")


async def test_no_project_reads_what_another_computed(by_lmcache: Engines, redis: tuple[RedisServer, int]) -> None:
    store = {"redis": KvStoreSettings(medium="redis", capacity_gb=1.0)}
    two_projects = tenants(one=caller("acme/search"), two=caller("acme/mail"))
    urls = (by_lmcache[0].url, by_lmcache[1].url)
    async with kv_fleet(urls, engine="vllm", kv_transfer="lmcache", stores=store, tenants=two_projects) as fleet:
        messages = [{"role": "user", "content": f"What was calm? {LOG}"}]
        before = redis[0].used_bytes()
        computed = await fleet.turn(messages, FIRST, secret="one")
        await wait(lambda: redis[0].used_bytes() - before > 10e6)
        for secret, is_read in (("two", False), ("one", True)):
            hits = by_lmcache[1].counted(HITS)
            turn = await fleet.turn(messages, SECOND, KvOrigin.STORE, secret=secret)
            assert (by_lmcache[1].counted(HITS) > hits) is is_read
            assert turn.text == computed.text


async def test_without_the_store_the_prompt_is_computed(by_lmcache: Engines, redis: tuple[RedisServer, int]) -> None:
    store = {"redis": KvStoreSettings(medium="redis", capacity_gb=1.0)}
    urls = (by_lmcache[0].url, by_lmcache[1].url)
    async with kv_fleet(urls, engine="vllm", kv_transfer="lmcache", stores=store) as fleet:
        messages = [{"role": "user", "content": f"Who wrote it? {LOG}"}]
        computed = await fleet.turn(messages, FIRST)
        redis[0].kill()
        read = await fleet.turn(messages, SECOND, KvOrigin.STORE)
        assert (read.replica, read.text) == (SECOND, computed.text)


async def test_a_folder_has_for_one_what_another_computed(by_folder: Engines) -> None:
    store = {"disk": KvStoreSettings(medium="disk", capacity_gb=1.0)}
    async with kv_fleet(
        (by_folder[0].url, by_folder[1].url), engine="vllm", kv_transfer="example", stores=store
    ) as fleet:
        for question in ("Summarise the log.", "What is lit?"):
            await read_by_the_other(fleet, by_folder, question, lambda: True)
