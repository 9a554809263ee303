"""Workers tell each other over real sockets in one folder."""

import asyncio
import socket
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from heterodyne.control.gossip_channel import MESSAGES_MAX, SUFFIX, GossipChannel
from heterodyne.domain.fleet import ReplicaId
from heterodyne.routing.kv.chain import Chain, chain_of_blocks
from heterodyne.routing.kv.gossip import MESSAGE_BYTES_MAX, PrefixGossip
from heterodyne.routing.router import Router
from heterodyne.telemetry import metrics
from tests.support.replica_states import ROUND, even, fleet, replica, routing_request

A, B = ReplicaId("a"), ReplicaId("b")
CHAIN = chain_of_blocks(b"salt", range(1, 11), 100)


@asynccontextmanager
async def line(folder: Path, name: str, router: Router) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(GossipChannel(folder, name, router.take_gossip, router.receive_gossip).run())
        async with asyncio.timeout(30):
            while not (folder / f"{name}{SUFFIX}").exists():
                await asyncio.sleep(0.001)
        yield
        task.cancel()


def worker() -> Router:
    return Router(fleet(replica("a"), replica("b")), prior_of=lambda _: ROUND, chance=even, now_s=0.0, has_others=True)


def compute(router: Router, chain: Chain = CHAIN, at: ReplicaId = B) -> None:
    request = routing_request(chain=chain)
    router.start(request, router.forecast(request, at, 0.0), 0.0).first_token(0.1)


def knows(router: Router, chain: Chain = CHAIN, at: ReplicaId = B) -> bool:
    return router.forecast(routing_request(chain=chain), at, 1.0).cached_tokens > 0


async def until(is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not is_so():
            await asyncio.sleep(0.005)


async def test_what_one_worker_has_computed_the_others_know(tmp_path: Path) -> None:
    routers = [worker() for _ in range(3)]
    async with AsyncExitStack() as stack:
        for index, router in enumerate(routers):
            await stack.enter_async_context(line(tmp_path, f"worker-{index}", router))
        compute(routers[1])
        await until(lambda: all(map(knows, routers)))
        assert not knows(routers[0], at=A)
        choice = routers[2].decide(routing_request(chain=CHAIN), fleet(replica("a"), replica("b")).replicas, 1.0)
        assert choice.target.id == B
        assert routers[0].take_gossip() is None, "what was heard is not told again"


async def test_a_socket_is_its_owners_alone_and_goes_with_its_worker(tmp_path: Path) -> None:
    async with line(tmp_path, "worker-0", worker()):
        (own,) = tmp_path.iterdir()
        assert stat.S_IMODE(own.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == []


async def test_a_worker_that_died_is_passed_over_and_its_successor_hears(tmp_path: Path) -> None:
    teller, successor = worker(), worker()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as dead:
        dead.bind(str(tmp_path / f"worker-1{SUFFIX}"))  # nobody unlinks it
    failed = metrics.gossip_dropped.cell(("full",))[0]
    async with line(tmp_path, "worker-0", teller):
        compute(teller)
        await asyncio.sleep(0.12)
        assert metrics.gossip_dropped.cell(("full",))[0] == failed
        async with line(tmp_path, "worker-1", successor):
            await asyncio.sleep(0.06)
            compute(teller)
            await until(lambda: knows(successor))


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"\xc1",
        b"\x93\x01\x02\x03",
        b"\x91\x93\xa1a\x91\x01\x90",  # a block without an end
        b"\x91\x93\xa1\xff\x90\x90",  # a name that is no text
        bytes(200_000),
    ],
)
async def test_what_is_no_message_is_counted_and_dropped(tmp_path: Path, message: bytes) -> None:
    router = worker()
    before = metrics.gossip_dropped.cell(("malformed",))[0]
    async with line(tmp_path, "worker-0", router):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as stranger:
            stranger.sendto(message, str(tmp_path / f"worker-0{SUFFIX}"))
        await until(lambda: metrics.gossip_dropped.cell(("malformed",))[0] == before + 1)
    assert router.index.entries == 0


async def test_a_worker_that_does_not_listen_costs_messages_and_no_time(tmp_path: Path) -> None:
    teller = worker()
    long = chain_of_blocks(b"salt", range(500), 100)
    before = metrics.gossip_dropped.cell(("full",))[0]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as deaf:
        deaf.bind(str(tmp_path / f"worker-1{SUFFIX}"))
        async with line(tmp_path, "worker-0", teller):
            for _ in range(6):
                for _ in range(100):
                    compute(teller, long)
                await asyncio.sleep(0.06)  # for ever, were it waited for
    assert metrics.gossip_dropped.cell(("full",))[0] > before


async def test_much_to_tell_is_told_in_several_messages_over_several_turns(tmp_path: Path) -> None:
    routers = [worker(), worker()]
    chains = [chain_of_blocks(b"salt", range(400 * number, 400 * number + 400), 1) for number in range(30)]
    async with line(tmp_path, "worker-0", routers[0]), line(tmp_path, "worker-1", routers[1]):
        for chain in chains:
            compute(routers[0], chain)
        await until(lambda: all(knows(routers[1], chain) for chain in chains))


def test_no_message_is_longer_than_a_datagram_may_be() -> None:
    hearsay = PrefixGossip()
    hashes = tuple((1 << 64) - 1 - number for number in range(545))
    for number in range(100):
        hearsay.note(ReplicaId(f"a-pool-with-a-long-name-{number}"), Chain(hashes, tuple(range(10**6, 10**6 + 545))))
    messages = []
    while (message := hearsay.take()) is not None:
        messages.append(message)
    assert len(messages) > MESSAGES_MAX
    assert max(map(len, messages)) <= MESSAGE_BYTES_MAX


async def test_a_folder_whose_name_is_too_long_for_a_socket_leaves_a_worker_by_itself(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 40)
    folder.mkdir()
    router = worker()
    with pytest.raises(TimeoutError):  # it tries again, and ends nobody
        await asyncio.wait_for(GossipChannel(folder, "worker-0", router.take_gossip, router.receive_gossip).run(), 0.2)
    assert list(folder.iterdir()) == []


def test_a_lonely_worker_gathers_nothing() -> None:
    router = Router(fleet(replica("a"), replica("b")), prior_of=lambda _: ROUND, chance=even, now_s=0.0)
    compute(router)
    assert router.take_gossip() is None
