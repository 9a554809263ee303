"""KV plans carried out in virtual time: what comes, what is late, what was not there."""

from heapq import heappop, heappush
from math import inf

import pytest

from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.kv_origin import KvLoss, KvOrigin
from heterodyne.physics.replica.job import Job
from heterodyne.routing.routing_choice import KvPlan
from heterodyne.simulator.hand_over import SimulatedHandOver
from heterodyne.simulator.hand_overs import KV_WAKES, PATIENCE, PATIENCE_S, HandOvers
from heterodyne.simulator.kv.held_blocks import HeldBlocks
from heterodyne.simulator.kv.link_change import LinkChange
from heterodyne.simulator.kv.replica_kv import ReplicaKv
from heterodyne.simulator.kv.simulated_store import SimulatedStore
from heterodyne.simulator.kv.transfers import Port
from heterodyne.simulator.replica import SimulatedReplica
from heterodyne.simulator.simulated_fleet import SimulatedFleet
from tests.support.replicas import job, machine

HASHES = (11, 12, 13, 14, 15, 16)
TOKEN_BYTES = 10.0


class Said:
    """A ticket that writes down what it hears."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, float, float]] = []

    def kv_prefilled(self, now_s: float) -> None:
        self.prefilled_at_s = now_s

    def kv_arrived(self, now_s: float, byte_count: float) -> None:
        self.heard.append(("arrived", now_s, byte_count))

    def kv_failed(self, now_s: float, loss: KvLoss) -> None:
        self.heard.append(("failed" if loss is KvLoss.BROKEN else loss.value, now_s, 0.0))


class Rig:
    """Two replicas, a store, and a clock."""

    def __init__(self, *changes: LinkChange, blocks: int = 100, host: int = 0) -> None:
        self.events: list[tuple[float, int]] = []
        self.replicas = [_replica(0, "other", blocks, host), _replica(1, "own", blocks, host)]
        self.store = SimulatedStore(HeldBlocks(100), Port(1000.0), Port(1000.0))
        fleet = SimulatedFleet({}, {}, hash_tokens=16, changes=False)
        fleet.replicas += self.replicas
        self.hand_overs = HandOvers(self.events, fleet, {"shelf": self.store}, changes=changes)
        self.ticket = Said()
        self.first_at_s: dict[int, float] = {}
        self.computed_tokens = 0

    def start(self, one: Job, origin: KvOrigin, *, takes_s: float = 1.0, tokens: int = 96) -> None:
        plan = KvPlan(
            origin,
            None,  # type: ignore[arg-type]  # nothing here looks at the forecast
            tokens=tokens,
            byte_count=0.0,
            takes_s=takes_s,
            queued_s=0.0,
            saved_s=0.0,
            saved_usd=0.0,
            store="shelf",
        )
        source = self.replicas[0] if origin in (KvOrigin.PEER, KvOrigin.PREFILL) else None
        self.hand_overs.start(SimulatedHandOver(one, plan, source, self.replicas[1], self.ticket), 0.0)

    def run(self) -> None:
        while self.events:
            now_s, number = heappop(self.events)
            if number == KV_WAKES:
                self.hand_overs.wake(now_s)
                continue
            replica = self.replicas[number]
            if replica.wake_at_s != now_s:
                continue
            if replica.machine.step is not None and number == 1:
                self.computed_tokens += replica.machine.step.prompt_tokens
            ended = replica.wake(now_s)
            if replica.wake_at_s < inf:
                heappush(self.events, (replica.wake_at_s, number))
            for job_id in () if ended is None else ended.prompted:
                if number == 0:
                    self.hand_overs.prefilled(job_id, now_s)
                else:
                    self.first_at_s[job_id] = now_s
            self.hand_overs.move(replica, now_s)

    @property
    def held(self) -> int:
        return sum(replica.machine.blocks.used for replica in self.replicas)


def _replica(number: int, pool: str, blocks: int, host: int) -> SimulatedReplica:
    listed = Replica(
        id=ReplicaId(pool), pool=PoolName(pool), model="m", engine="vllm", host="h", port=1, kv_store="shelf"
    )
    held = HeldBlocks(host) if host else None
    kv = ReplicaKv(token_bytes=TOKEN_BYTES, bytes_per_s=1000.0, bus_bytes_per_s=10_000.0, held_by_host=held)
    return SimulatedReplica(number, listed, machine(blocks=blocks), kv, sequence_tokens_max=1600)


def warm(replica: SimulatedReplica, number: int = 99) -> None:
    """It has computed the prompt before."""
    replica.machine.submit(job(number, output=1, blocks=HASHES), 0.0)
    replica.machine.begin(0.0)
    replica.machine.finish()


def test_what_a_peer_holds_comes_over_the_link_and_only_the_rest_is_computed() -> None:
    rig = Rig()
    warm(rig.replicas[0])
    rig.start(job(1, blocks=HASHES), KvOrigin.PEER)
    rig.run()
    assert rig.ticket.heard == [("arrived", pytest.approx(0.96), 960.0)]
    assert rig.computed_tokens == 4
    assert rig.first_at_s[1] > 0.96
    assert rig.held == 0


def test_what_the_peer_has_forgotten_meanwhile_is_computed() -> None:
    rig = Rig()
    rig.start(job(1, blocks=HASHES), KvOrigin.PEER)
    rig.run()
    assert rig.ticket.heard == [("missing", 0.0, 0.0)]
    assert (rig.computed_tokens, rig.held) == (100, 0)


def test_a_prompt_computed_elsewhere_is_handed_over_and_its_blocks_are_given_back() -> None:
    rig = Rig()
    rig.start(job(1, blocks=HASHES), KvOrigin.PREFILL, tokens=100)
    rig.run()
    assert [word for word, *_ in rig.ticket.heard] == ["arrived"]
    assert rig.ticket.heard[0][2] == 1000.0
    assert (rig.computed_tokens, rig.held) == (1, 0)


def test_a_prefill_that_never_hands_over_costs_no_more_than_the_bound() -> None:
    rig = Rig(LinkChange(at_s=0.0, name="other", slowdown=inf))
    rig.start(job(1, blocks=HASHES), KvOrigin.PREFILL, takes_s=0.2, tokens=100)
    rig.run()
    assert rig.ticket.heard == [("failed", pytest.approx(PATIENCE * 0.2 + PATIENCE_S), 0.0)]
    assert (rig.computed_tokens, rig.held) == (100, 0)


def test_a_link_throttled_a_hundredfold_is_given_up_in_time() -> None:
    rig = Rig(LinkChange(at_s=0.5, name="own", slowdown=100.0))
    warm(rig.replicas[0])
    rig.start(job(1, blocks=HASHES), KvOrigin.PEER)
    rig.run()
    assert [word for word, *_ in rig.ticket.heard] == ["failed"]
    assert (rig.computed_tokens, rig.held) == (100, 0)


def test_a_store_gives_what_was_written_to_it() -> None:
    rig = Rig()
    rig.hand_overs.write(rig.replicas[0], HASHES, 0.0)
    rig.run()
    rig.start(job(1, blocks=HASHES), KvOrigin.STORE)
    rig.run()
    assert rig.ticket.heard[0][0] == "arrived"
    assert rig.computed_tokens == 4


def test_what_was_evicted_comes_back_from_the_hosts_memory() -> None:
    rig = Rig(blocks=10, host=100)
    own = rig.replicas[1]
    for number, blocks in ((97, HASHES), (98, (21, 22, 23, 24, 25, 26))):
        own.submit(job(number, output=1, blocks=blocks), 0.0)
        heappush(rig.events, (own.wake_at_s, 1))
        rig.run()
    rig.computed_tokens = 0
    assert own.machine.blocks.known(HASHES) < len(HASHES)
    rig.start(job(1, blocks=HASHES), KvOrigin.HOST)
    rig.run()
    assert rig.ticket.heard[0][0] == "arrived"
    assert rig.computed_tokens == 4


def test_memory_that_is_short_is_waited_for_and_no_longer_than_the_bound() -> None:
    rig = Rig(blocks=10)
    own = rig.replicas[1]
    assert own.machine.try_reserve(job(50, prompt=150))
    warm(rig.replicas[0])
    rig.start(job(1, blocks=HASHES), KvOrigin.PEER, takes_s=0.1)
    rig.run()
    assert [word for word, *_ in rig.ticket.heard] == ["failed"]
    assert own.machine.cancel(50)
    own.machine.begin(1.0)
    assert own.machine.running == 1


def test_ten_thousand_hand_overs_that_are_given_up_leave_nothing_behind() -> None:
    rig = Rig(LinkChange(at_s=0.0, name="other", slowdown=inf), blocks=2000)
    for number in range(10_000):
        origin = KvOrigin.PREFILL if number % 2 else KvOrigin.PEER
        rig.start(job(number, prompt=20, output=1), origin, takes_s=0.0)
    rig.run()
    assert len(rig.ticket.heard) == 10_000
    assert rig.held == 0
