"""What the doctor finds of pools that are to exchange KV, asking real servers."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from heterodyne.cli.doctor.finding import FindingState
from heterodyne.cli.doctor.kv_exchange import kv_exchange
from heterodyne.config.settings import Settings
from heterodyne.emulator.server import EmulatorServer
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.fleet.settings import PoolSettings
from tests.support.emulators import order

MODEL = "llama-3.1-8b"
NOWHERE = "http://127.0.0.1:9"


@contextmanager
def emulator() -> Iterator[str]:
    """In a loop of its own: the doctor has another."""
    server, loop = EmulatorServer(order()), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.open(), loop).result(30)
        yield server.url
        asyncio.run_coroutine_threadsafe(server.close(), loop).result(30)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        loop.close()


def pool(url: str = NOWHERE, **fields: object) -> PoolSettings:
    said = {"model": MODEL, "engine": "vllm", "urls": (url,), "version": "1", "kv_transfer": "nixl"}
    return PoolSettings(**{**said, **fields})  # type: ignore[arg-type]


def found(**pools: PoolSettings) -> list[tuple[str, FindingState, str]]:
    stores = {"disk": KvStoreSettings(medium="disk", capacity_gb=1.0, path="/var/kv")}
    settings = Settings(pools=pools, kv_stores=stores)
    return [(one.name, one.state, one.value) for one in kv_exchange(settings)]


def test_where_nothing_is_exchanged_nothing_is_asked() -> None:
    assert found(a=pool(kv_transfer=None)) == []


def test_two_pools_that_hold_kv_alike_are_good_and_a_difference_is_named() -> None:
    assert found(a=pool(), b=pool()) == [("a and b", FindingState.GOOD, "they hold KV alike")]
    [(_, state, value)] = found(a=pool(), b=pool(version="2", precision="fp8", kv_transfer="dynamo"))
    assert state is FindingState.WARNING
    assert value == (
        "they exchange no KV: kv_transfer is nixl and dynamo; version is 1 and 2; precision is as it comes and fp8"
    )


def test_an_engine_says_how_large_its_blocks_are() -> None:
    with emulator() as url:
        assert found(a=pool(url)) == [("a-0", FindingState.GOOD, "blocks of 16 tokens")]
        [(_, state, value)] = found(a=pool(url, kv_block_tokens=128))
        assert (state, value) == (FindingState.WARNING, "its blocks have 16 tokens, not 128")
