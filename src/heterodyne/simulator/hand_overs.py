"""Carries out in virtual time what routing choices say of KV: computed elsewhere, brought, or given up in time.

A gateway asks the engine that answers when KV has come, or when it has waited long enough; so does this. What is late
is computed, as if there had been no plan.
"""

from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush
from math import inf
from typing import Final

from heterodyne.domain.kv_origin import KvLoss, KvOrigin
from heterodyne.physics.replica.job import Job
from heterodyne.routing.routing_choice import KvPlan
from heterodyne.simulator.hand_over import HandOverStage, SimulatedHandOver
from heterodyne.simulator.kv.link_change import LinkChange
from heterodyne.simulator.kv.simulated_store import SimulatedStore, StoreWrite
from heterodyne.simulator.kv.transfers import Port, Transfer, Transfers
from heterodyne.simulator.replica import SimulatedReplica
from heterodyne.simulator.simulated_fleet import SimulatedFleet

PATIENCE: Final = 3.0  # times what bringing it was forecast to take
PATIENCE_S: Final = 0.5  # and so much more
KV_WAKES: Final = -1  # among the numbers of replicas that events are of

Event = tuple[float, int]


class HandOvers:
    """Of one simulation. What it has to do next stands in `events`, beside what replicas have to do."""

    def __init__(
        self,
        events: list[Event],
        fleet: SimulatedFleet,
        stores: Mapping[str, SimulatedStore],
        *,
        changes: Sequence[LinkChange] = (),
    ) -> None:
        self.arrived = self.failed = 0
        self._events = events
        self._replicas = fleet.replicas
        self._hash_tokens = fleet.hash_tokens
        self._stores = stores
        self._transfers = Transfers()
        self._by_job: dict[int, SimulatedHandOver] = {}
        self._deadlines: list[tuple[float, int, SimulatedHandOver]] = []
        self._changes = sorted(changes, key=lambda one: one.at_s, reverse=True)
        self._wakes_at_s = inf
        self._order = 0
        self._wait()

    def start(self, hand_over: SimulatedHandOver, now_s: float) -> None:
        """A request begins that has its KV from elsewhere."""
        job, plan, source = hand_over.job, hand_over.plan, hand_over.source
        self._by_job[job.id] = hand_over
        self._order += 1
        patience_s = PATIENCE * plan.takes_s + PATIENCE_S
        heappush(self._deadlines, (now_s + patience_s, self._order, hand_over))
        if plan.origin is KvOrigin.PREFILL:
            assert source is not None
            hand_over.stage = HandOverStage.PREFILL
            prefill = Job(id=job.id, prompt_tokens=job.prompt_tokens, output_tokens=1, blocks=job.blocks, keeps_kv=True)
            source.submit(prefill, now_s)
            self._push(source)
        else:
            self._ask_memory(hand_over, now_s)
        self._wait()

    def prefilled(self, job_id: int, now_s: float) -> None:
        """Another replica has computed a prompt."""
        hand_over = self._by_job.get(job_id)
        if hand_over is not None and hand_over.stage is HandOverStage.PREFILL:
            hand_over.stage = HandOverStage.MEMORY
            hand_over.ticket.kv_prefilled(now_s)
            self._ask_memory(hand_over, now_s)
            self._wait()

    def move(self, target: SimulatedReplica, now_s: float) -> None:
        """What has memory there now begins to move."""
        while target.reserved:
            self._move(self._by_job[target.reserved.pop().id], now_s)
        self._wait()

    def write(self, replica: SimulatedReplica, blocks: Sequence[int], now_s: float) -> None:
        """A prompt is computed there: what its store lacks of it is written to that."""
        store = self._stores.get(replica.listed.kv_store)
        if store is None:
            return
        fresh = store.try_begin_write(blocks)
        if fresh:
            byte_count = len(fresh) * self._hash_tokens * replica.kv.token_bytes
            self._transfers.start(replica.kv.out, store.writes, byte_count, StoreWrite(store, tuple(fresh)), now_s)
            self._wait()

    def wake(self, now_s: float) -> None:
        """Transfers that end now, links that change, and those whose time is over."""
        if now_s != self._wakes_at_s:
            return
        self._wakes_at_s = inf
        while self._changes and self._changes[-1].at_s <= now_s:
            self._change(self._changes.pop(), now_s)
        for transfer in self._transfers.take_ended(now_s):
            self._end(transfer, now_s)
        while self._deadlines and self._deadlines[0][0] <= now_s:
            hand_over = heappop(self._deadlines)[2]
            if hand_over.stage is not HandOverStage.OVER:
                self._give_up(hand_over, now_s)
        self._wait()

    def _ask_memory(self, hand_over: SimulatedHandOver, now_s: float) -> None:
        target = hand_over.target
        target.expect(hand_over.job, now_s)
        self.move(target, now_s)
        self._push(target)

    def _move(self, hand_over: SimulatedHandOver, now_s: float) -> None:
        """It has its memory; what is no longer held where it was thought to be is not brought."""
        held, source = self._held(hand_over, now_s)
        job, target = hand_over.job, hand_over.target
        own = target.machine.blocks.known(job.blocks) * self._hash_tokens if job.blocks else 0
        if source is None or not held:
            self._give_up(hand_over, now_s, KvLoss.MISSING)
            return
        if held <= own:  # others that begin alike have brought or computed it meanwhile
            hand_over.ticket.kv_arrived(now_s, 0.0)
            self._ask(hand_over, own, now_s)
            return
        hand_over.stage = HandOverStage.MOVING
        hand_over.tokens = held
        into = target.kv.bus if hand_over.plan.origin is KvOrigin.HOST else target.kv.into
        byte_count = (held - own) * target.kv.token_bytes
        hand_over.transfer = self._transfers.start(source, into, byte_count, hand_over, now_s)

    def _held(self, hand_over: SimulatedHandOver, now_s: float) -> tuple[int, Port | None]:
        """Tokens there are to be had, and the port they come out of."""
        job, plan, source = hand_over.job, hand_over.plan, hand_over.source
        match plan.origin:
            case KvOrigin.PREFILL:
                return job.prompt_tokens, None if source is None else source.kv.out
            case KvOrigin.PEER:
                if source is None:
                    return 0, None
                return self._tokens(source.machine.blocks.known(job.blocks), plan), source.kv.out
            case KvOrigin.STORE:
                store = self._stores.get(plan.store)
                if store is None:
                    return 0, None
                return self._tokens(store.held.known(job.blocks, now_s), plan), store.reads
            case KvOrigin.HOST:
                replica = hand_over.target
                below = replica.kv.held_by_host
                if below is None:
                    return 0, None
                own = replica.machine.blocks.known(job.blocks)
                return self._tokens(own + below.known(job.blocks[own:], now_s), plan), replica.kv.bus

    def _tokens(self, blocks: int, plan: KvPlan) -> int:
        """No more than was asked for, in whole blocks."""
        return min(blocks * self._hash_tokens, round(plan.tokens))

    def _end(self, transfer: Transfer, now_s: float) -> None:
        word = transfer.word
        if isinstance(word, StoreWrite):
            word.store.end_write(word.blocks, now_s)
            return
        assert isinstance(word, SimulatedHandOver)
        self.arrived += 1
        word.ticket.kv_arrived(now_s, transfer.byte_count)
        self._ask(word, word.tokens, now_s)

    def _give_up(self, hand_over: SimulatedHandOver, now_s: float, loss: KvLoss = KvLoss.BROKEN) -> None:
        """It is late, or not there: the prompt is computed by the replica that answers."""
        self.failed += 1
        hand_over.ticket.kv_failed(now_s, loss)
        if hand_over.transfer is not None:
            self._transfers.cancel(hand_over.transfer, now_s)
        if hand_over.stage is HandOverStage.PREFILL and hand_over.source is not None:
            hand_over.source.machine.cancel(hand_over.job.id)
        self._ask(hand_over, 0, now_s)

    def _ask(self, hand_over: SimulatedHandOver, tokens: int, now_s: float) -> None:
        """The engine that answers is asked, with so many tokens in its memory."""
        job, source, target = hand_over.job, hand_over.source, hand_over.target
        hand_over.stage = HandOverStage.OVER
        del self._by_job[job.id]
        if hand_over.plan.origin is KvOrigin.PREFILL and source is not None and source.machine.release_kv(job.id):
            source.make_room()
            self.move(source, now_s)
        target.ask(job, tokens, now_s)
        self._push(target)

    def _change(self, change: LinkChange, now_s: float) -> None:
        self._transfers.change_speeds(now_s)
        for port in self._ports(change.name):
            port.throttle(change.slowdown)
        self._transfers.change_speeds(now_s)

    def _ports(self, name: str) -> Iterator[Port]:
        store = self._stores.get(name)
        if store is not None:
            yield from (store.reads, store.writes)
        for replica in self._replicas:
            if replica.listed.pool == name:
                yield from (replica.kv.into, replica.kv.out)

    def _push(self, replica: SimulatedReplica) -> None:
        if replica.wake_at_s < inf:
            heappush(self._events, (replica.wake_at_s, replica.number))

    def _wait(self) -> None:
        at_s = self._transfers.next_at_s
        while self._deadlines and self._deadlines[0][2].stage is HandOverStage.OVER:
            heappop(self._deadlines)
        if self._deadlines:
            at_s = min(at_s, self._deadlines[0][0])
        if self._changes:
            at_s = min(at_s, self._changes[-1].at_s)
        if at_s != self._wakes_at_s:
            self._wakes_at_s = at_s
            if at_s < inf:
                heappush(self._events, (at_s, KV_WAKES))
