"""Brings the KV of a conversation to a replica shortly before its next turn is likely, where there is idle room.

Slots of llama.cpp only: a saved slot is restored into an empty one, or into one whose conversation is saved too and is
not expected back. One at once on a replica, and only on one that has nothing else to do; a turn that comes first
cancels it and is brought its KV the usual way.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import EngineError
from heterodyne.domain.fleet import Replica, ReplicaId
from heterodyne.domain.kv_seen import KvPrefetchSeen
from heterodyne.gateway.fleet_view import FleetView, ReplicaWire
from heterodyne.gateway.kv.kv_failure import KvFailure
from heterodyne.gateway.kv.move_slot import SlotMover
from heterodyne.gateway.kv.slot_book import NOTHING, Hashes, SlotBook
from heterodyne.gateway.kv.slot_files import SlotFiles, slot_key
from heterodyne.gateway.kv.slot_keeper import BLOCKS_MIN
from heterodyne.routing.fabric.next_turns import NextTurn, NextTurns
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.telemetry import log, metrics

LOOK_S: Final = 0.25
TIMEOUT_S: Final = 10.0
AT_ONCE_MAX: Final = 4

_log = log.get("gateway")
OnHeld = Callable[[RoutingRequest, ReplicaId, float], None]


class PrefetchEnd(StrEnum):
    """What came of one."""

    TAKEN = "taken"  # the turn came to the replica while it was there
    WASTED = "wasted"  # it came elsewhere, too late or not at all
    CANCELLED = "cancelled"  # it came first
    FAILED = "failed"


class _Prefetched(NamedTuple):
    turn: NextTurn
    replica: Replica


class Prefetcher:
    """One per worker."""

    def __init__(
        self,
        fleet: FleetView,
        books: Callable[[ReplicaId], SlotBook | None],
        files: Mapping[str, SlotFiles],
        mover: Callable[[ReplicaWire], SlotMover | None],
        *,
        on_held: OnHeld,
        clock: Callable[[], float],
    ) -> None:
        """`files` are known by their store; `on_held` hears that a replica has a prompt."""
        self._fleet, self._books, self._files, self._mover = fleet, books, files, mover
        self._on_held, self._clock = on_held, clock
        self._turns = NextTurns()
        self._looking: asyncio.Task[None] | None = None
        self._running: dict[int, asyncio.Task[None]] = {}  # by the turn's key
        self._at_work: set[ReplicaId] = set()
        self._ready: dict[int, _Prefetched] = {}
        self._counts: Counter[str] = Counter()

    @property
    def seen(self) -> KvPrefetchSeen:
        """What came of all."""
        return KvPrefetchSeen(**self._counts)

    def answered(self, group: asyncio.TaskGroup, wire: ReplicaWire, request: RoutingRequest) -> None:
        """A turn was answered in a slot of the replica; another may follow."""
        if not wire.replica.kv_prefetch or len(request.chain.hashes) < BLOCKS_MIN:
            return
        self._turns.answered(request, wire.replica_id, self._clock())
        if self._looking is None or self._looking.done():
            self._looking = group.create_task(self._look(group), name="KV of next turns")

    def asked(self, wire: ReplicaWire, request: RoutingRequest) -> None:
        """A turn goes to the replica, and takes a slot next."""
        if not wire.replica.kv_prefetch:
            return
        turn = self._turns.asked(request, self._clock())
        if turn is None:
            return
        task, ready = self._running.get(turn.key), self._ready.pop(turn.key, None)
        if task is not None:
            task.cancel()
        if ready is not None:
            book = self._books(wire.replica_id)
            is_there = (
                ready.replica.id == wire.replica_id and book is not None and book.holds(turn.request.chain.hashes)
            )
            self._count(ready.replica, PrefetchEnd.TAKEN if is_there else PrefetchEnd.WASTED)

    async def _look(self, group: asyncio.TaskGroup) -> None:
        """As long as a turn is expected, or what was brought for one is there."""
        while self._turns.has_expected(now_s := self._clock()) or self._running or self._ready:
            for turn in self._turns.due(now_s):
                if len(self._running) >= AT_ONCE_MAX:
                    break
                self._try_begin(group, turn, now_s)
            for key, ready in tuple(self._ready.items()):
                if now_s >= ready.turn.until_s:
                    del self._ready[key]
                    self._count(ready.replica, PrefetchEnd.WASTED)
            await asyncio.sleep(LOOK_S)

    def _try_begin(self, group: asyncio.TaskGroup, turn: NextTurn, now_s: float) -> None:
        """Where it was answered before all others, if that has room."""
        hashes, request = turn.request.chain.hashes, turn.request
        replicas = [one for one in self._fleet.snapshot.by_model.get(request.model, ()) if one.kv_prefetch]
        books = [(one, book) for one in replicas if (book := self._books(one.id)) is not None]
        if any(book.holds(hashes) for _, book in books):
            return  # it is where the turn will go
        for replica, book in sorted(books, key=lambda pair: pair[0].id != turn.replica):
            mover = self._mover(self._fleet.wire(replica.id))
            is_open = replica.is_takeable and replica.id not in self._at_work and request.may_go_to(replica)
            if mover is None or not is_open or not self._is_saved(replica, request.tenant, hashes):
                continue

            def may_lose(held: Hashes, replica: Replica = replica) -> bool:
                other = self._turns.of(held[-1])
                if other is None or other.is_expected(now_s):
                    return False
                return self._is_saved(replica, other.request.tenant, held)

            slot = book.try_take_spare(may_lose)
            if slot is None:
                continue
            turn.is_tried = True
            self._at_work.add(replica.id)
            task = group.create_task(self._bring(turn, replica, book, slot, mover), name=f"KV ahead for {replica.id}")
            self._running[turn.key] = task
            return

    def _is_saved(self, replica: Replica, tenant: bytes, hashes: Hashes) -> bool:
        files = self._files.get(replica.kv_store)
        return files is not None and slot_key(replica.kv_layout, tenant, hashes) in files

    async def _bring(self, turn: NextTurn, replica: Replica, book: SlotBook, slot: int, mover: SlotMover) -> None:
        hashes, end = turn.request.chain.hashes, PrefetchEnd.CANCELLED
        try:
            book.hold(slot, NOTHING)  # until it is done
            async with deadline(TIMEOUT_S):
                file, blocks = await mover.from_folder(replica.kv_layout, turn.request.tenant, hashes)
                await mover.restore_file(self._fleet.wire(replica.id), slot, file, timeout_s=TIMEOUT_S)
            book.hold(slot, hashes[:blocks])
            self._ready[turn.key] = _Prefetched(turn, replica)
            self._on_held(turn.request, replica.id, self._clock())
        except (KvFailure, EngineError, TimeoutError, LookupError) as error:
            end = PrefetchEnd.FAILED
            _log.info("kv_prefetch_failed", replica=replica.id, error=str(error))
        finally:
            book.release(slot)
            self._at_work.discard(replica.id)
            self._running.pop(turn.key, None)
            if turn.key not in self._ready:
                self._count(replica, end)

    def _count(self, replica: Replica, end: PrefetchEnd) -> None:
        self._counts[end.value] += 1
        metrics.kv_prefetches.add((replica.model, replica.pool, end.value))
