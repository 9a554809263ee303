"""What requests left in llama.cpp's slots, and the files that slots are saved to and restored from."""

from pathlib import Path

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import EngineRefused
from heterodyne.emulator.order import EmulatorOrder
from heterodyne.physics.replica.job import Job
from heterodyne.physics.replica.machine import ReplicaMachine


class SlotContent(Struct):
    """A sequence, as a file has it: its tokens, and the hashes of its full blocks."""

    tokens: int
    blocks: tuple[int, ...]


EMPTY = SlotContent(tokens=0, blocks=())


class EmulatedSlots:
    """Of requests that name a slot. Restored blocks are in memory as if they had been computed here."""

    def __init__(self, order: EmulatorOrder, machine: ReplicaMachine) -> None:
        self._folder = None if order.slot_folder is None else Path(order.slot_folder)
        self._total = order.scheduling.slots
        self._machine = machine
        self._block_tokens = order.scheduling.block_tokens
        self._contents: dict[int, SlotContent] = {}
        self.restored = 0  # slots, from files

    def hold(self, slot: int, job: Job) -> None:
        """A request in this slot has ended."""
        tokens = job.prompt_tokens + job.output_tokens
        self._contents[slot] = SlotContent(tokens=tokens, blocks=job.blocks[: tokens // self._block_tokens])

    def save(self, slot: int, name: str) -> SlotContent:
        """Write it; a slot that is out of range, or empty, writes nothing and says so."""
        content, path = self._contents.get(slot, EMPTY), self._path(name)
        if content.tokens:
            path.write_bytes(msgspec.json.encode(content))
        return content

    def restore(self, slot: int, name: str) -> SlotContent:
        """Read it; the slot is empty where that fails."""
        self._contents.pop(slot, None)
        try:
            content = msgspec.json.decode(self._path(name).read_bytes(), type=SlotContent)
        except (OSError, msgspec.MsgspecError) as error:
            raise EngineRefused("Unable to restore slot: invalid slot save file", status=400) from error
        if slot >= self._total:
            raise EngineRefused("Invalid slot ID", status=400)
        blocks = self._machine.blocks
        fresh = [block for block in content.blocks if not blocks.known((block,))]
        if len(fresh) * blocks.per_hash <= blocks.available:
            blocks.take(len(fresh) * blocks.per_hash)
            blocks.share(fresh)
            blocks.release(fresh, 0)
            self._contents[slot] = content
            self.restored += 1
        return content

    def size(self, name: str) -> int:
        """Bytes of a file; 0 where there is none."""
        path = self._path(name)
        return path.stat().st_size if path.exists() else 0

    def erase(self, slot: int) -> SlotContent:
        return self._contents.pop(slot, EMPTY)

    def _path(self, name: str) -> Path:
        if self._folder is None:
            raise EngineRefused(
                "This server does not support slots action. Start it with `--slot-save-path`", status=501
            )
        if not name or "/" in name or name.startswith("."):
            raise EngineRefused("Invalid filename", status=400)
        return self._folder / name
