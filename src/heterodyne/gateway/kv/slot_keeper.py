"""Saves conversations that have fallen idle, so that they are in the store before their slot is another's.

A save stops its engine for as long as it takes, so it is done when the engine has nothing else to do, and not while a
conversation goes on.
"""

import asyncio
from typing import Final

from heterodyne.domain.errors import EngineError
from heterodyne.gateway.fleet_view import ReplicaWire
from heterodyne.gateway.kv.kv_failure import KvFailure
from heterodyne.gateway.kv.move_slot import SlotMover
from heterodyne.gateway.kv.slot_book import HeldSlot, SlotBook
from heterodyne.telemetry import log

IDLE_S: Final = 2.0
BLOCKS_MIN: Final = 4  # of a prompt; shorter ones are computed as soon as read
TIMEOUT_S: Final = 30.0
KEEPING_MAX: Final = 256  # conversations that wait to be saved; of more, none is

_log = log.get("gateway")


class SlotKeeper:
    """One per worker."""

    def __init__(self, idle_s: float = IDLE_S) -> None:
        self._idle_s = idle_s
        self._waiting = 0

    def answered(
        self,
        group: asyncio.TaskGroup,
        mover: SlotMover,
        wire: ReplicaWire,
        book: SlotBook,
        *,
        held: HeldSlot,
        tenant: bytes,
    ) -> None:
        """A slot holds the prompt, and perhaps for longer than until the next request."""
        if len(held.hashes) < BLOCKS_MIN or self._waiting >= KEEPING_MAX:
            return
        self._waiting += 1
        task = group.create_task(self._keep(mover, wire, book, held, tenant), name=f"keep slot of {wire.pool}")
        task.add_done_callback(self._done)

    def _done(self, _: "asyncio.Task[None]") -> None:
        self._waiting -= 1

    async def _keep(self, mover: SlotMover, wire: ReplicaWire, book: SlotBook, held: HeldSlot, tenant: bytes) -> None:
        await asyncio.sleep(self._idle_s)
        if not book.try_take_still(held):
            return
        try:
            await mover.save(wire, held, tenant, timeout_s=TIMEOUT_S)
        except (EngineError, KvFailure) as error:
            _log.info("kv_not_kept", replica=wire.replica_id, error=str(error))
        finally:
            book.release(held.slot)
