"""How many sequences a layout holds, the draft's and the engine's own extras counted."""

import msgspec
from msgspec import Struct

from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.kv import kv_bytes_per_sequence, kv_share
from heterodyne.physics.memory import Demand, Layout, MemoryBudget, kv_sequence_share_bytes, memory_budget
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.precision import Precision
from heterodyne.physics.weights import weight_bytes

Q8_0_SCALE = 34 / 32  # llama.cpp's eight-bit blocks: two bytes of scale for 32 numbers


class Room(Struct, frozen=True, kw_only=True):
    """A layout and the sequences it shall hold: many usual ones, or a single one of full length."""

    layout: Layout
    ranks: int
    context_tokens: int
    usual_tokens: int
    draft: ModelSpec | None = None


def room_for(room: Room, sequences: int) -> MemoryBudget:
    """The budget of each chip with the engine made ready for so many sequences."""
    layout = room.layout
    if layout.engine is not EngineKind.LLAMACPP:  # whose buffers do not follow its slots
        layout = msgspec.structs.replace(layout, slots=sequences)
    return memory_budget(layout, Demand(context_tokens=room.usual_tokens, concurrency=sequences))


def most_sequences(room: Room, most: int) -> int:
    """Bisection: one more sequence never takes less. None fits: 0."""
    few, many = 0, most
    while few < many:
        middle = (few + many + 1) // 2
        if is_holding(room, middle):
            few = middle
        else:
            many = middle - 1
    return few


def is_holding(room: Room, sequences: int) -> bool:
    """Whether so many usual sequences fit, and one of full length alone."""
    free_bytes = room_for(room, sequences).kv_room_bytes - _draft_weights(room)
    usual = sequence_bytes(room, room.usual_tokens) * sequences
    return usual <= free_bytes and sequence_bytes(room, room.context_tokens) <= free_bytes


def sequence_bytes(room: Room, tokens: int) -> float:
    """What one sequence takes on each chip, in the target's cache and in the draft's."""
    layout = room.layout
    target = kv_sequence_share_bytes(layout, tokens) * _copies(layout.model, layout.tp, room.ranks) * _scale(layout)
    if room.draft is None:
        return target
    draft = kv_bytes_per_sequence(room.draft, tokens, layout.kv_precision) * kv_share(room.draft, layout.tp)
    return target + draft * _copies(room.draft, layout.tp, room.ranks) * _scale(layout)


def _draft_weights(room: Room) -> float:
    if room.draft is None:
        return 0.0
    return weight_bytes(room.draft, room.draft.checkpoint_precision) / room.layout.tp


def _copies(model: ModelSpec, tp: int, ranks: int) -> float:
    """Where a chip is several ranks each keeps whole heads, so a chip may hold more than its even share."""
    return kv_share(model, ranks) * (ranks / tp) / kv_share(model, tp)


def _scale(layout: Layout) -> float:
    is_eight_bit = layout.engine is EngineKind.LLAMACPP and layout.kv_precision is Precision.INT8
    return Q8_0_SCALE if is_eight_bit else 1.0
