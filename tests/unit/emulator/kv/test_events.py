"""KV events as a subscriber gets them."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest
import zmq

from heterodyne.domain.errors import InvalidSpec
from heterodyne.emulator import tokenizer
from heterodyne.emulator.faults import Faults
from heterodyne.emulator.kv.events import KEPT_MAX
from heterodyne.emulator.order import EmulatorOrder
from heterodyne.emulator.server import EmulatorServer
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.replica.job import Scheduling
from tests.support.emulators import order
from tests.support.surfaces import call, chat, page

ANYWHERE = "tcp://127.0.0.1:*"
RESET = {EngineKind.VLLM: "/reset_prefix_cache", EngineKind.SGLANG: "/flush_cache"}
PROMPT = "word " * 400


def publishing(engine: EngineKind = EngineKind.VLLM, **changes: object) -> EmulatorOrder:
    """An order with events and their replay at free ports."""
    return order(engine, kv_events=ANYWHERE, kv_events_replay=ANYWHERE, **changes)


class Subscriber:
    """A SUB socket and what it takes apart."""

    def __init__(self, server: EmulatorServer, context: zmq.Context[zmq.Socket[bytes]]) -> None:
        self._server = server
        self._context = context
        self._socket = context.socket(zmq.SUB)
        self._socket.setsockopt(zmq.SUBSCRIBE, b"")
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.connect(server.kv_events.endpoint)

    async def join(self) -> int:
        """Wait until the publisher knows of us; the number of the last batch before we begin."""
        reset = RESET[self._server.order.layout.engine]
        while True:
            await call(self._server, reset)
            if batches := await self.batches(0.05):
                return batches[-1][0]

    async def batches(self, quiet_s: float = 0.2) -> list[tuple[int, list[Any]]]:
        """Numbers and events of everything that comes until it is quiet."""
        return await asyncio.to_thread(self._batches, quiet_s)

    async def events(self) -> list[Any]:
        """Of all batches that come, without their numbers."""
        return [event for _, events in await self.batches() for event in events]

    async def replayed(self, first: int) -> list[tuple[int, list[Any]]]:
        """What the replay socket has from there on."""
        return await asyncio.to_thread(self._replayed, first)

    def _batches(self, quiet_s: float) -> list[tuple[int, list[Any]]]:
        found = []
        while self._socket.poll(int(quiet_s * 1000)):
            topic, number, batch = self._socket.recv_multipart()
            assert topic == b""
            found.append((int.from_bytes(number, "big"), _events(batch)))
        return found

    def _replayed(self, first: int) -> list[tuple[int, list[Any]]]:
        with self._context.socket(zmq.DEALER) as asking:  # a REQ takes one answer only
            asking.setsockopt(zmq.LINGER, 0)
            asking.setsockopt(zmq.RCVTIMEO, 5000)
            asking.connect(self._server.kv_events.replay_endpoint)
            asking.send_multipart((b"", first.to_bytes(8, "big")))
            found = []
            while True:
                _, number, batch = asking.recv_multipart()
                if int.from_bytes(number, "big", signed=True) == -1:
                    assert batch == b""
                    return found
                found.append((int.from_bytes(number, "big"), _events(batch)))


@contextmanager
def subscribed(server: EmulatorServer) -> Iterator[Subscriber]:
    """A subscriber and its context."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    try:
        yield Subscriber(server, context)
    finally:
        context.destroy(linger=0)


def _events(batch: bytes) -> list[Any]:
    at_s, events, rank = msgspec.msgpack.decode(batch)
    assert at_s > 1e9
    assert rank == 0
    return events


async def test_vllm_stores_are_maps_whose_hashes_chain() -> None:
    async with EmulatorServer(publishing()) as server:
        with subscribed(server) as subscriber:
            await subscriber.join()
            usage = (await chat(server, PROMPT, max_tokens=40, ignore_eos=True)).json["usage"]
            events = await subscriber.events()
    assert {event["type"] for event in events} == {"BlockStored"}
    parents = {None}
    for event in events:
        assert event["parent_block_hash"] in parents
        assert len(event["token_ids"]) == event["block_size"] * len(event["block_hashes"])
        assert (event["medium"], event["lora_id"], event["lora_name"]) == ("GPU", None, None)
        assert event["extra_keys"] == [None] * len(event["block_hashes"])
        parents |= set(event["block_hashes"])
    tokens = [token for event in events for token in event["token_ids"]]
    assert tokens[:3] == tokenizer.token_ids(b"<|user|>word")
    whole = usage["prompt_tokens"] + usage["completion_tokens"]
    assert whole - 2 * 16 < len(tokens) <= whole


async def test_sglang_stores_are_arrays_of_one_block_each() -> None:
    async with EmulatorServer(publishing(EngineKind.SGLANG)) as server:
        with subscribed(server) as subscriber:
            await subscriber.join()
            await chat(server, PROMPT, max_tokens=1)
            events = await subscriber.events()
    before = None
    for kind, hashes, parent, tokens, size, lora, medium in events:
        assert (kind, parent, size, lora, medium) == ("BlockStored", before, 16, None, "GPU")
        assert len(tokens) == 16
        (before,) = hashes
        assert -(1 << 63) <= before < 1 << 63
    assert len(events) > 20


async def test_what_is_known_is_not_told_again() -> None:
    async with EmulatorServer(publishing()) as server:
        with subscribed(server) as subscriber:
            await subscriber.join()
            await chat(server, PROMPT, max_tokens=1)
            first = await subscriber.events()
            await chat(server, PROMPT, max_tokens=1)
            assert await subscriber.events() == []
            await chat(server, PROMPT + "and something else, long enough to fill some blocks" * 3, max_tokens=1)
            branch = await subscriber.events()
    known = [block for event in first for block in event["block_hashes"]]
    assert branch[0]["parent_block_hash"] in known
    assert not set(known) & {block for event in branch for block in event["block_hashes"]}


@pytest.mark.parametrize("engine", [EngineKind.VLLM, EngineKind.SGLANG])
async def test_a_reset_cache_is_one_event(engine: EngineKind) -> None:
    async with EmulatorServer(publishing(engine)) as server:
        with subscribed(server) as subscriber:
            await subscriber.join()
            await chat(server, PROMPT, max_tokens=1)
            await subscriber.events()
            await call(server, RESET[engine])
            events = await subscriber.events()
    assert events == [{"type": "AllBlocksCleared"} if engine is EngineKind.VLLM else ["AllBlocksCleared"]]


async def test_a_subscriber_knows_what_is_in_memory() -> None:
    tight = Scheduling(slots=8, step_tokens=512, blocks=80)
    async with EmulatorServer(publishing(scheduling=tight)) as server:
        with subscribed(server) as subscriber:
            await subscriber.join()
            prompts = [f"{number % 7} {'word ' * (40 * (number % 5) + 100)}" for number in range(40)]
            await asyncio.gather(*(chat(server, one, max_tokens=200, ignore_eos=True) for one in prompts))
            mirror: set[int] = set()
            removed = 0
            for event in await subscriber.events():
                hashes = set(event["block_hashes"])
                if event["type"] == "BlockStored":
                    assert event["parent_block_hash"] in mirror | {None}
                    mirror |= hashes
                else:
                    removed += len(hashes & mirror)
                    mirror -= hashes
            store = server.engine.machine.blocks
            assert removed > 0
            assert server.engine.machine.counters.preemptions > 0
            assert len(mirror) == store.cached
            assert all(store.known((block,)) for block in mirror)


async def test_an_adapter_is_named_and_has_blocks_of_its_own() -> None:
    async with EmulatorServer(publishing(adapters=("tales",))) as server:
        with subscribed(server) as subscriber:
            await subscriber.join()
            await chat(server, PROMPT, max_tokens=1, cache_salt="grain")
            plain = await subscriber.events()
            await chat(server, PROMPT, max_tokens=1, model="tales")
            tales = await subscriber.events()
    assert (tales[0]["lora_name"], tales[0]["lora_id"]) == ("tales", 1)
    assert tales[0]["extra_keys"][:2] == [["tales"], ["tales"]]
    assert plain[0]["extra_keys"][:2] == [["grain"], None]
    assert tales[0]["token_ids"] == plain[0]["token_ids"]
    assert tales[0]["block_hashes"] != plain[0]["block_hashes"]


async def test_lost_batches_leave_a_gap_that_a_replay_closes() -> None:
    async with EmulatorServer(publishing()) as server:
        with subscribed(server) as subscriber:
            last = await subscriber.join()
            server.engine.set_faults(Faults(kv_event_loss_share=0.5))
            for number in range(6):
                await chat(server, f"{number} {PROMPT}", max_tokens=1)
            got = await subscriber.batches()
            numbers = [number for number, _ in got]
            missing = set(range(last + 1, last + 13)) - set(numbers)
            replayed = await subscriber.replayed(last + 1)
            later = await subscriber.replayed(last + 10_000)
            unsent = server.kv_events.unsent
    assert numbers == sorted(numbers)
    assert len(missing) >= 3
    assert unsent == len([number for number, _ in replayed]) - len(got) >= 3
    assert [number for number, _ in replayed] == list(range(last + 1, replayed[-1][0] + 1))
    assert [one for one in replayed if one[0] in numbers] == got
    assert later == []


async def test_a_replay_has_only_the_latest() -> None:
    async with EmulatorServer(publishing()) as server:
        with subscribed(server) as subscriber:
            for _ in range(KEPT_MAX + 50):
                server.engine.reset_cache()
            replayed = await subscriber.replayed(0)
    assert [replayed[0][0], replayed[-1][0]] == [50, KEPT_MAX + 49]


async def test_a_client_that_leaves_mid_prompt_leaves_no_false_blocks() -> None:
    slow = publishing(speed=0.05, scheduling=Scheduling(slots=4, step_tokens=64, blocks=1000))
    async with EmulatorServer(slow) as server:
        with subscribed(server) as subscriber:
            await subscriber.join()
            leaving = asyncio.create_task(chat(server, PROMPT, max_tokens=1))
            async with asyncio.timeout(30):
                while not server.engine.machine.running:
                    await asyncio.sleep(0.001)
            leaving.cancel()
            await asyncio.gather(leaving, return_exceptions=True)
            await asyncio.sleep(0.3)
            told = {block for event in await subscriber.events() for block in event["block_hashes"]}
            assert len(told) == server.engine.machine.blocks.cached > 0


async def test_sglang_says_where_its_events_are() -> None:
    async with EmulatorServer(publishing(EngineKind.SGLANG)) as server:
        said = (await page(server, "/server_info")).json["kv_events"]
        endpoint = server.kv_events.endpoint
    assert endpoint == f"tcp://{said['endpoint_host']}:{said['endpoint_port_base']}"
    assert (said["publisher"], said["topic"], said["block_size"], said["dp_size"]) == ("zmq", "", 16, 1)


async def test_numbers_begin_again_after_a_restart() -> None:
    server = EmulatorServer(publishing())
    for _ in range(2):
        async with server:
            with subscribed(server) as subscriber:
                server.engine.reset_cache()
                (first,) = await subscriber.replayed(0)
                assert first[0] == 0


@pytest.mark.parametrize("engine", [EngineKind.TENSORRT_LLM, EngineKind.LLAMACPP])
async def test_an_engine_without_events_refuses_to_publish_them(engine: EngineKind) -> None:
    with pytest.raises(InvalidSpec, match="emulate vllm or sglang"):
        await EmulatorServer(publishing(engine)).open()


async def test_a_wrong_endpoint_is_named() -> None:
    with pytest.raises(InvalidSpec, match="cannot listen at nowhere"):
        await EmulatorServer(order(kv_events="nowhere")).open()


async def test_a_taken_port_leaves_no_socket_open() -> None:
    async with EmulatorServer(order()) as first:
        second = EmulatorServer(publishing(), port=first.port)
        with pytest.raises(OSError, match="in use"):
            await second.open()
        assert second.kv_events.is_closed


async def test_without_zeromq_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zmq", None)
    with pytest.raises(InvalidSpec, match=r"pip install 'heterodyne\[kv-events\]'"):
        await EmulatorServer(publishing()).open()
