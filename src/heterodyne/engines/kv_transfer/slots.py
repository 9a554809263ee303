"""llama.cpp's slots: one server saves a slot to a file of its `--slot-save-path`, another restores it.

Three of its answers look better than they are: a slot out of range answers 200 with nothing saved, a restore that fails
has emptied the slot, and a server without the path answers 501.
"""

from typing import TypeVar

import msgspec

from heterodyne.domain.errors import EngineGarbage
from heterodyne.engines.error_answer import read_error
from heterodyne.engines.json_edit import put
from heterodyne.engines.one_token import one_token_call
from heterodyne.ports.engine_control import ControlCall
from heterodyne.ports.engine_request import EngineRequest
from heterodyne.ports.kv_transfer import SavedSlot

T = TypeVar("T")
MANY = 4096  # slots that no server has


class _Slot(msgspec.Struct):
    id: int


class _Saved(msgspec.Struct):
    id_slot: int
    n_saved: int = 0
    n_written: int = 0


class _Restored(msgspec.Struct):
    id_slot: int
    n_restored: int = 0
    n_read: int = 0


class SlotTransfer:
    """File names are names alone: the folder is the server's."""

    slots_path = "/slots"

    def prefill(self, call: EngineRequest, slot: int) -> EngineRequest:
        return one_token_call(call, {"id_slot": b"%d" % slot, "cache_prompt": b"true"})

    def save(self, slot: int, file_name: str) -> ControlCall:
        return _action(slot, "save", file_name)

    def restore(self, slot: int, file_name: str) -> ControlCall:
        return _action(slot, "restore", file_name)

    def read_slots(self, status: int, body: bytes) -> int:
        _check_status(status, body, "list")
        slots = sorted(one.id for one in _read(body, list[_Slot]))
        if not slots or len(slots) > MANY or slots != list(range(len(slots))):
            raise EngineGarbage("The engine's list of slots has not the promised form.")
        return len(slots)

    def read_saved(self, status: int, body: bytes, slot: int) -> SavedSlot:
        _check_status(status, body, "save")
        saved = _read(body, _Saved)
        return _checked("saved", saved.id_slot, slot, SavedSlot(saved.n_saved, saved.n_written))

    def read_restored(self, status: int, body: bytes, slot: int) -> SavedSlot:
        _check_status(status, body, "restore")
        restored = _read(body, _Restored)
        return _checked("restored", restored.id_slot, slot, SavedSlot(restored.n_restored, restored.n_read))

    def in_slot(self, call: EngineRequest, slot: int) -> EngineRequest:
        body = put(call.body, {"id_slot": b"%d" % slot, "cache_prompt": b"true"})
        return EngineRequest(call.path, body, call.not_carried)


def _action(slot: int, action: str, file_name: str) -> ControlCall:
    return ControlCall("POST", f"/slots/{slot}?action={action}", msgspec.json.encode({"filename": file_name}))


def _check_status(status: int, body: bytes, action: str) -> None:
    if status != 200:
        words = read_error(body).message or f"status {status}"
        raise EngineGarbage(f"The engine did not {action} its slots: {words}")


def _read(body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except (ValueError, RecursionError) as error:
        raise EngineGarbage("The engine's answer about its slot has not the promised form.") from error


def _checked(done: str, slot: int, asked: int, saved: SavedSlot) -> SavedSlot:
    if slot != asked or not saved.tokens or not saved.byte_count:
        raise EngineGarbage(f"The engine {done} {saved.tokens} tokens of slot {slot}, and was asked for slot {asked}.")
    return saved
