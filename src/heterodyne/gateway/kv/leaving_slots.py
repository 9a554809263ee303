"""Saves the slots of a replica that drains, so that its conversations go on elsewhere from what they had.

While it saves, it counts as a request in flight on the replica, which whoever ends replicas waits for. It takes no
longer than its bound; a save that fails changes nothing but where the next turn is computed.
"""

import asyncio
from typing import Final

from heterodyne.admission.concurrency_limit import ConcurrencyLimit
from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import EngineError
from heterodyne.domain.fleet import ReplicaId
from heterodyne.gateway.fleet_view import ReplicaWire
from heterodyne.gateway.kv.kv_failure import KvFailure
from heterodyne.gateway.kv.move_slot import SlotMover
from heterodyne.gateway.kv.slot_book import SlotBook
from heterodyne.gateway.kv.slot_keeper import BLOCKS_MIN
from heterodyne.telemetry import log, metrics

BOUND_S: Final = 20.0  # for all slots of a replica that are idle by then

_log = log.get("gateway")


class LeavingSlots:
    """One per worker, and one task for each replica that drains."""

    def __init__(self, limit: ConcurrencyLimit, bound_s: float = BOUND_S) -> None:
        self._limit = limit
        self._bound_s = bound_s
        self._saving: set[ReplicaId] = set()

    def save(self, group: asyncio.TaskGroup, mover: SlotMover, wire: ReplicaWire, book: SlotBook) -> None:
        """What its idle slots hold; those that have something to do are saved when they were answered."""
        if wire.replica_id in self._saving or not book.has_unsaved(BLOCKS_MIN):
            return
        self._saving.add(wire.replica_id)
        self._limit.occupy(wire.replica_id)
        task = group.create_task(self._save(mover, wire, book), name=f"save slots of {wire.replica_id}")
        task.add_done_callback(lambda _: self._limit.vacate(wire.replica_id))

    async def _save(self, mover: SlotMover, wire: ReplicaWire, book: SlotBook) -> None:
        try:
            async with deadline(self._bound_s):
                while (found := book.try_take_unsaved(BLOCKS_MIN)) is not None:
                    held, tenant = found
                    try:
                        await mover.save(wire, held, tenant, timeout_s=self._bound_s)
                        _count(wire, "saved")
                    except KvFailure as failure:
                        _count(wire, "failed")
                        _log.info("kv_not_kept", replica=wire.replica_id, error=str(failure))
                    finally:
                        book.release(held.slot)
        except TimeoutError:
            book.give_up_unsaved()
            _count(wire, "late")
        except EngineError as error:
            book.give_up_unsaved()  # no other will fare better
            _count(wire, "failed")
            _log.info("kv_not_kept", replica=wire.replica_id, error=error.message)
        finally:
            self._saving.discard(wire.replica_id)


def _count(wire: ReplicaWire, outcome: str) -> None:
    metrics.kv_slots_handed_over.add((wire.model, wire.pool, outcome))
