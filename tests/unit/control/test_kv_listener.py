"""KV events over real sockets: from emulated engines into the router's index, and through everything that is lost."""

import asyncio
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from heterodyne.control import kv_channel
from heterodyne.control.kv_listener import KvListener
from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.fleet import FleetSnapshot, ReplicaId
from heterodyne.domain.kv_event import AllBlocksCleared, BlockRemoved, BlockStored, KvEvent, KvPublisher
from heterodyne.emulator.faults import Faults
from heterodyne.emulator.server import EmulatorServer
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.replica.job import Scheduling
from heterodyne.ports.kv_sink import KvSink
from heterodyne.routing.kv.chain import chain_of_blocks
from heterodyne.routing.router import Router
from heterodyne.telemetry import metrics
from tests.support.emulators import order
from tests.support.kv_publishers import ANYWHERE, publishing_fleet, removed, stored, written
from tests.support.replica_states import ROUND, even, fleet, replica, routing_request
from tests.support.surfaces import call, chat

RESET = {EngineKind.VLLM: "/reset_prefix_cache", EngineKind.SGLANG: "/flush_cache"}
PROMPT = "word " * 400
CHAIN = chain_of_blocks(b"salt", range(1, 11), 100)
BEGUN, GAP = "begun", "gap"


class Heard:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.all: list[object] = []

    def on_kv_event(self, replica: ReplicaId, event: KvEvent, rank: int | None, now_s: float) -> None:
        self.all.append(event if rank is None else (rank, event))

    def on_kv_gap(self, replica: ReplicaId, now_s: float) -> None:
        self.all.append(GAP)

    def on_kv_restart(self, replica: ReplicaId, now_s: float) -> None:
        self.all.append(BEGUN)

    @property
    def hashes(self) -> list[object]:
        """First hash of every event, between what else happened."""
        return [one if isinstance(one, str) else one.hashes[0] for one in self.all]  # type: ignore[attr-defined]


@asynccontextmanager
async def listening(sink: KvSink, snapshot: FleetSnapshot) -> AsyncIterator[KvListener]:
    listener = KvListener(sink, clock=time.monotonic, chance=even)
    listener.publish(snapshot)
    task = asyncio.create_task(listener.run())
    try:
        yield listener
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(is_so: Callable[[], object], within_s: float = 10.0) -> None:
    async with asyncio.timeout(within_s):
        while not is_so():
            await asyncio.sleep(0.005)


async def join(server: EmulatorServer, heard: Callable[[], float]) -> None:
    """Until the emulator knows of its subscriber; that what it published before was lost only shows with the next."""
    before = heard()
    async with asyncio.timeout(30):
        while heard() == before:
            server.engine.reset_cache()
            await asyncio.sleep(0.02)
    await asyncio.sleep(0.05)


def of_emulator(server: EmulatorServer) -> KvPublisher:
    return KvPublisher(endpoint=server.kv_events.endpoint, replay=server.kv_events.replay_endpoint)


def routing(snapshot: FleetSnapshot) -> Router:
    """A router that believes that the first replica has computed a prompt of ten blocks of a hundred tokens."""
    return Router(snapshot, prior_of=lambda _: ROUND, chance=even, now_s=0.0)


def believe(router: Router) -> None:
    request = routing_request(chain=CHAIN)
    ticket = router.start(request, router.forecast(request, ReplicaId("a"), 0.0), 0.0)
    ticket.first_token(0.1)


def believed(router: Router) -> float:
    return router.forecast(routing_request(chain=CHAIN), ReplicaId("a"), 1.0).cached_tokens


@pytest.mark.parametrize("engine", [EngineKind.VLLM, EngineKind.SGLANG])
async def test_what_both_engines_store_remove_and_clear_is_heard(engine: EngineKind) -> None:
    tight = Scheduling(slots=4, step_tokens=512, blocks=60)
    heard = Heard()
    async with (
        EmulatorServer(order(engine, kv_events=ANYWHERE, kv_events_replay=ANYWHERE, scheduling=tight)) as server,
        listening(heard, publishing_fleet(of_emulator(server))),
    ):
        await until(lambda: heard.all)
        for number in range(4):
            await chat(server, f"{number} {PROMPT}", max_tokens=1)
        await call(server, RESET[engine])
        await until(lambda: heard.all[-1] == AllBlocksCleared())
        held: set[object] = set()
        for event in heard.all[1:-1]:
            assert isinstance(event, BlockStored | BlockRemoved)
            held = held | set(event.hashes) if isinstance(event, BlockStored) else held - set(event.hashes)
    kinds = {type(event) for event in heard.all[1:]}
    assert (heard.all[0], kinds) == (BEGUN, {BlockStored, BlockRemoved, AllBlocksCleared})
    assert 0 < len(held) <= 60


@pytest.mark.parametrize("engine", [EngineKind.VLLM, EngineKind.SGLANG])
async def test_a_cleared_cache_leaves_the_routers_index(engine: EngineKind) -> None:
    async with EmulatorServer(order(engine, kv_events=ANYWHERE, kv_events_replay=ANYWHERE)) as server:
        snapshot = publishing_fleet(of_emulator(server))
        router = routing(snapshot)
        before = metrics.kv_events.cell(("a", "stored"))[0]
        async with listening(router, snapshot):
            await join(server, lambda: metrics.kv_events.cell(("a", "cleared"))[0])
            await chat(server, PROMPT, max_tokens=1)
            await until(lambda: metrics.kv_events.cell(("a", "stored"))[0] > before)
            believe(router)
            assert believed(router) > 500
            await call(server, RESET[engine])
            await until(lambda: believed(router) == 0)


async def test_an_engine_that_holds_less_is_believed_to_hold_less() -> None:
    with written() as publisher:
        snapshot = publishing_fleet(publisher.at)
        router = routing(snapshot)
        async with listening(router, snapshot):
            await until(publisher.has_subscriber)
            publisher.send(0, stored(*range(100), tokens=16))
            before = metrics.kv_events.cell(("a", "removed"))[0]
            await until(lambda: metrics.kv_events.cell(("a", "stored"))[0])
            await asyncio.sleep(0.05)
            believe(router)
            whole = believed(router)
            publisher.send(1, removed(*range(70)))
            await until(lambda: metrics.kv_events.cell(("a", "removed"))[0] > before)
            assert 0 < believed(router) < whole / 2


async def test_lost_messages_are_asked_for_again() -> None:
    heard = Heard()
    async with (
        EmulatorServer(order(kv_events=ANYWHERE, kv_events_replay=ANYWHERE)) as server,
        listening(heard, publishing_fleet(of_emulator(server))),
    ):
        await until(lambda: heard.all)
        server.engine.set_faults(Faults(kv_event_loss_share=0.4))
        for number in range(8):
            await chat(server, f"{number} {PROMPT}", max_tokens=1)
        assert server.kv_events.unsent > 2
        server.engine.set_faults(Faults())
        await call(server, RESET[EngineKind.VLLM])
        await until(lambda: heard.all[-1] == AllBlocksCleared())
        stores = [event for event in heard.all if isinstance(event, BlockStored)]
    assert GAP not in heard.all
    assert len({event.token_ids[:32] for event in stores if event.parent is None}) == 8


@pytest.mark.parametrize("topic", [None, b"kv@pod@model"])
async def test_a_replay_comes_before_what_was_published_meanwhile(topic: bytes | None) -> None:
    heard = Heard()
    with written() as publisher:
        async with listening(heard, publishing_fleet(publisher.at)):
            await until(publisher.has_subscriber)
            publisher.send(0, stored(10))
            publisher.send(3, stored(13))
            publisher.send(4, stored(14))
            await until(lambda: publisher.try_asked() == 1)
            publisher.answer({number: stored(10 + number) for number in range(1, 5)}, topic=topic)
            publisher.send(5, stored(15))
            await until(lambda: len(heard.all) == 7)
    assert heard.hashes == [BEGUN, 10, 11, 12, 13, 14, 15]


async def test_a_long_replay_is_heard_whole_while_others_have_their_turn() -> None:
    heard = Heard()
    async with EmulatorServer(order(kv_events=ANYWHERE, kv_events_replay=ANYWHERE)) as server:
        for _ in range(3000):
            server.engine.reset_cache()  # before anybody listens
        async with listening(heard, publishing_fleet(of_emulator(server))):
            await until(lambda: heard.all)
            seen, most_between_turns = 1, 0
            while len(heard.all) <= 3000:
                if len(heard.all) == 1:
                    server.engine.reset_cache()
                await asyncio.sleep(0)
                most_between_turns = max(most_between_turns, len(heard.all) - seen)
                seen = len(heard.all)
    assert GAP not in heard.all
    assert most_between_turns < 1000


async def test_what_no_replay_has_any_more_is_a_gap() -> None:
    heard = Heard()
    with written() as publisher:
        async with listening(heard, publishing_fleet(publisher.at)):
            await until(publisher.has_subscriber)
            publisher.send(50, stored(1))
            await until(lambda: publisher.try_asked() == 0)
            publisher.answer({49: stored(49)})
            await until(lambda: len(heard.all) == 4)
            assert heard.hashes == [BEGUN, GAP, 49, 1]
            publisher.send(52, stored(2))
            await until(lambda: publisher.try_asked() == 51)
            publisher.answer()
            await until(lambda: len(heard.all) == 6)
    assert heard.hashes[4:] == [GAP, 2]


async def test_without_a_replay_every_gap_is_one_and_a_silent_replay_is_not_waited_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kv_channel, "REPLAY_TIMEOUT_S", 0.2)
    with written() as publisher:
        for replay in (None, publisher.at.replay):
            heard = Heard()
            async with listening(heard, publishing_fleet(KvPublisher(endpoint=publisher.at.endpoint, replay=replay))):
                await until(publisher.has_subscriber)
                publisher.send(0, stored(1))
                publisher.send(2, stored(2))
                await until(lambda heard=heard: heard.hashes == [BEGUN, 1, GAP, 2])
                while publisher.try_asked() is not None:
                    pass
                publisher.send(4, stored(3))
                await until(lambda heard=heard: heard.hashes[4:] == [GAP, 3])
                assert publisher.try_asked() is None


async def test_a_gap_and_a_restart_are_forgotten_by_the_router() -> None:
    with written() as publisher:
        snapshot = publishing_fleet(publisher.at)
        router = routing(snapshot)
        async with listening(router, snapshot):
            await until(publisher.has_subscriber)
            await asyncio.sleep(0.05)
            believe(router)
            publisher.send(7, stored(1))
            await until(lambda: publisher.try_asked() == 0)
            publisher.answer()
            await until(lambda: believed(router) == 0)
            believe(router)
            publisher.send(8, stored(2))
            publisher.send(0, stored(3))  # the numbers begin again
            await until(lambda: believed(router) == 0)


async def test_an_engine_that_comes_back_is_heard_from_the_beginning() -> None:
    heard = Heard()
    ports = [_free_port() for _ in range(2)]
    fixed = {"kv_events": f"tcp://127.0.0.1:{ports[0]}", "kv_events_replay": f"tcp://127.0.0.1:{ports[1]}"}
    server = EmulatorServer(order(**fixed))
    publisher = KvPublisher(endpoint=fixed["kv_events"], replay=fixed["kv_events_replay"])
    async with listening(heard, publishing_fleet(publisher)):
        await server.open()
        await join(server, lambda: heard.all.count(AllBlocksCleared()))
        await chat(server, PROMPT, max_tokens=1)
        await until(lambda: isinstance(heard.all[-1], BlockStored))
        await server.close()
        heard.all.clear()
        await server.open()
        server.engine.reset_cache()  # before anybody has reconnected: only a replay has it
        await until(lambda: heard.all == [BEGUN])
        await chat(server, PROMPT, max_tokens=1)
        await until(lambda: len(heard.all) > 2)
        await server.close()
    assert heard.all[:2] == [BEGUN, AllBlocksCleared()]
    assert isinstance(heard.all[2], BlockStored)


async def test_garbage_is_a_gap_and_what_follows_is_heard() -> None:
    heard = Heard()
    with written() as publisher:
        async with listening(heard, publishing_fleet(publisher.at)):
            await until(publisher.has_subscriber)
            publisher.send_frames(b"topic", (0).to_bytes(8, "big"), b"\xc1 no MessagePack")
            publisher.send_frames(b"alone")
            publisher.send_frames(b"topic", b"short", b"")
            publisher.send(1, stored(1))
            await until(lambda: len(heard.all) == 5)
    assert heard.hashes == [BEGUN, GAP, GAP, GAP, 1]


async def test_every_rank_is_heard_and_one_that_begins_anew_begins_all_of_them() -> None:
    heard = Heard()
    with written() as first, written() as second:
        ports = (second.at.endpoint, second.at.replay or "")
        async with listening(heard, publishing_fleet(first.at, second.at)):
            await until(first.has_subscriber)
            await until(second.has_subscriber)
            await until(lambda: heard.all == [BEGUN, BEGUN])
            first.send(0, stored(1))
            second.send(0, stored(2))
            await until(lambda: len(heard.all) == 4)
            assert {one[0] for one in heard.all[2:]} == {0, 1}  # type: ignore[index]
            second.close()
            with written(*ports) as again:
                await until(again.has_subscriber)
                await until(lambda: heard.all[4:] == [BEGUN])
                first.send(1, stored(3))
                await until(lambda: first.try_asked() == 0)
                first.answer({0: stored(1)})
                await until(lambda: len(heard.all) == 7)
    assert [one[0] for one in heard.all[5:]] == [0, 0]  # type: ignore[index]


async def test_replicas_come_and_go_while_it_listens() -> None:
    heard = Heard()
    with written() as old, written() as new:
        async with listening(heard, fleet(replica("silent"))) as listener:
            listener.publish(publishing_fleet(old.at, version=2))
            await until(old.has_subscriber)
            listener.publish(publishing_fleet(old.at, version=3))
            listener.publish(publishing_fleet(new.at, version=4))
            await until(new.has_subscriber)
            old.send(0, stored(1))
            new.send(0, stored(2))
            await until(lambda: len(heard.all) > 1 and not isinstance(heard.all[-1], str))
            listener.publish(fleet(replica("silent"), version=5))
            await asyncio.sleep(0.05)
            new.send(1, stored(3))
            await asyncio.sleep(0.1)
    assert heard.hashes[-1] == 2
    assert 1 not in heard.hashes


async def test_without_zeromq_only_a_fleet_that_needs_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zmq", None)
    async with listening(Heard(), fleet(replica("a"))) as listener:
        with pytest.raises(InvalidSpec, match=r"pip install 'heterodyne\[kv-events\]'"):
            listener.publish(publishing_fleet(KvPublisher(endpoint="tcp://127.0.0.1:1")))


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])
