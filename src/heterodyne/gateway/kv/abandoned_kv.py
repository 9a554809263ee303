"""KV that was handed over and that nobody will read: another replica reads it, which lets it go, or it is counted.

Engines let go of blocks when they have been read. The request they were meant for has ended, or its replica could not
read them; whoever else holds KV alike can, and throws them away. Until then, or until their lease ends, the router
knows that so much of the prefill replica's memory is taken.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Final

from heterodyne.domain.errors import EngineError
from heterodyne.gateway.fleet_view import FleetView, ReplicaWire
from heterodyne.gateway.kv.brought import Brought
from heterodyne.gateway.kv.engine_asker import EngineAsker
from heterodyne.gateway.kv.kv_use import KvUse
from heterodyne.gateway.kv.moved_call import moved_call
from heterodyne.ports.engine_request import EngineRequest
from heterodyne.routing.fabric.pinned import PinnedKv
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.telemetry import log, metrics

TIMEOUT_S: Final = 10.0
READERS_MAX: Final = 2
LEASE_S: Final = 60.0  # where nobody says how long it stays

_log = log.get("gateway")


class AbandonedEnd(StrEnum):
    """What became of it."""

    RELEASED = "released"  # another replica has read it
    LEFT = "left"  # it stays until its lease ends


class AbandonedKv:
    """One per worker."""

    def __init__(self, fleet: FleetView, asker: EngineAsker, pinned: PinnedKv, clock: Callable[[], float]) -> None:
        self._fleet = fleet
        self._asker = asker
        self._pinned = pinned
        self._clock = clock

    async def let_go(self, use: KvUse, brought: Brought, *, was_told: bool) -> None:
        """Have it read, by another replica than one that `was_told` of it and did not; never raises."""
        plan, now_s = use.plan, self._clock()
        source = None if plan is None else plan.source
        if plan is None or source is None or source.is_gone:
            return
        tokens = float(brought.tokens or plan.tokens)
        until_s = now_s + (LEASE_S if brought.lease_s is None else brought.lease_s)
        self._pinned.leave(source.place, tokens, until_s)
        end, replica = AbandonedEnd.LEFT, source.replica
        if brought.release is not None:
            for reader in self._readers(use, source, was_told=was_told):
                call = moved_call(brought.release, use.wire.replica, reader.replica)
                if await self._has_read(reader, call, use.request_id):
                    end = AbandonedEnd.RELEASED
                    self._pinned.take_back(source.place, tokens, until_s)
                    break
        if end is AbandonedEnd.LEFT:
            _log.info("kv_left_unread", request_id=use.request_id, replica=replica.id, tokens=round(tokens))
        metrics.kv_abandoned.add((replica.model, replica.pool, end.value))

    async def _has_read(self, reader: ReplicaWire, call: EngineRequest, request_id: str) -> bool:
        try:
            return (await self._asker.ask(reader, call, request_id, timeout_s=TIMEOUT_S)).status == 200
        except EngineError:
            return False

    def _readers(self, use: KvUse, source: ReplicaState, *, was_told: bool) -> list[ReplicaWire]:
        """Who holds KV alike, and answers; first the one it was meant for, where that was not asked yet."""
        target, theirs = use.wire.replica, source.replica
        readers = [
            one
            for one in self._fleet.snapshot.by_model.get(target.model, ())
            if one.is_takeable
            and one.id not in (theirs.id, target.id)
            and (one.kv_layout, one.kv_transfer) == (theirs.kv_layout, theirs.kv_transfer)
            and use.request.may_go_to(one)
        ]
        if not was_told:
            readers = [
                one for one in self._fleet.snapshot.replicas if one.id == target.id and one.is_takeable
            ] + readers
        return [self._fleet.wire(one.id) for one in readers[:READERS_MAX]]
