"""KV that moves in a file: a slot is saved by one replica and restored by another, if the file is what it should be."""

from heterodyne.gateway.fleet_view import ReplicaWire
from heterodyne.gateway.kv.brought import Brought
from heterodyne.gateway.kv.engine_asker import EngineAsker
from heterodyne.gateway.kv.kv_failure import KvFailure, KvOutcome, refused_prefill
from heterodyne.gateway.kv.slot_book import NOTHING, Hashes, HeldSlot, SlotBook
from heterodyne.gateway.kv.slot_files import SlotFile, SlotFiles, file_name, slot_key
from heterodyne.ports.engine_request import EngineRequest
from heterodyne.ports.kv_transfer import FileTransfer


class SlotMover:
    """One per folder that replicas share."""

    def __init__(self, asker: EngineAsker, transfer: FileTransfer, files: SlotFiles) -> None:
        self._asker = asker
        self._transfer = transfer
        self._files = files

    async def compute(
        self,
        source: ReplicaWire,
        book: SlotBook,
        call: EngineRequest,
        hashes: Hashes,
        request_id: str,
        *,
        timeout_s: float,
    ) -> None:
        """Have the prompt computed in a slot of the source."""
        slot = book.try_take(hashes)
        if slot is None:
            raise KvFailure(KvOutcome.CROWDED, "The prefill replica has no slot free.")
        try:
            book.hold(slot, NOTHING)  # until it is done
            answer = await self._asker.ask(source, self._transfer.prefill(call, slot), request_id, timeout_s=timeout_s)
            if answer.status != 200:
                raise refused_prefill(answer.status)
            book.hold(slot, hashes)
        finally:
            book.release(slot)

    async def from_replica(
        self, source: ReplicaWire, book: SlotBook, tenant: bytes, hashes: Hashes, *, timeout_s: float
    ) -> SlotFile:
        """The file of the slot there that holds most of the prompt."""
        held = book.try_find(hashes)
        if held is None:
            raise KvFailure(KvOutcome.MISSING, "No slot of the source holds the prompt, or it is in use.")
        try:
            return await self.save(source, held, tenant, timeout_s=timeout_s)
        finally:
            book.release(held.slot)

    async def save(self, source: ReplicaWire, held: HeldSlot, tenant: bytes, *, timeout_s: float) -> SlotFile:
        """The file of a slot that is taken, written now unless it is there already."""
        key = slot_key(source.replica.kv_layout, tenant, held.hashes)
        file = await self._files.verified(key)
        if file is not None:
            return file
        order = self._transfer.save(held.slot, file_name(key))
        answer = await self._asker.order(source, order, timeout_s=timeout_s)
        saved = self._transfer.read_saved(answer.status, answer.body, held.slot)
        file = await self._files.record(key, tokens=saved.tokens, byte_count=saved.byte_count)
        if file is None:
            raise KvFailure(KvOutcome.STALE, "The saved slot's file is not as long as the engine said.")
        return file

    async def from_folder(self, layout: str, tenant: bytes, hashes: Hashes) -> tuple[SlotFile, int]:
        """The file of the longest beginning of the prompt that was ever saved, and its blocks."""
        for blocks in range(len(hashes), 0, -1):
            key = slot_key(layout, tenant, hashes[:blocks])
            if key in self._files and (file := await self._files.verified(key)) is not None:
                return file, blocks
        raise KvFailure(KvOutcome.MISSING, "The folder has no file of the prompt.")

    async def restore(
        self, target: ReplicaWire, slot: int, file: SlotFile, call: EngineRequest, *, timeout_s: float
    ) -> Brought:
        """The same for a request, whose call then uses the slot."""
        await self.restore_file(target, slot, file, timeout_s=timeout_s)
        return Brought(self._transfer.in_slot(call, slot), tokens=file.tokens, byte_count=file.byte_count)

    async def restore_file(self, target: ReplicaWire, slot: int, file: SlotFile, *, timeout_s: float) -> None:
        """Put it into a slot of the target; where that fails the slot is empty."""
        order = self._transfer.restore(slot, file_name(file.key))
        answer = await self._asker.order(target, order, timeout_s=timeout_s)
        restored = self._transfer.read_restored(answer.status, answer.body, slot)
        if (restored.tokens, restored.byte_count) != (file.tokens, file.byte_count):
            raise KvFailure(KvOutcome.STALE, f"{restored.tokens} of {file.tokens} tokens were restored.")
