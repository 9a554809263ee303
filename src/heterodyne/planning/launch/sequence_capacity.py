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


class SequenceCapacity(Struct, frozen=True, kw_only=True):
    """A layout and the sequences it shall hold: many usual ones, or a single one of full length."""

    layout: Layout
    ranks: int
    context_tokens: int
    usual_tokens: int
    draft: ModelSpec | None = None


def budget_for(capacity: SequenceCapacity, sequences: int) -> MemoryBudget:
    """The budget of each chip with the engine made ready for so many sequences."""
    layout = capacity.layout
    if layout.engine is not EngineKind.LLAMACPP:  # whose buffers do not follow its slots
        layout = msgspec.structs.replace(layout, slots=sequences)
    return memory_budget(layout, Demand(context_tokens=capacity.usual_tokens, concurrency=sequences))


def most_sequences(capacity: SequenceCapacity, most: int) -> int:
    """Bisection: one more sequence never takes less. None fits: 0."""
    few, many = 0, most
    while few < many:
        middle = (few + many + 1) // 2
        if is_holding(capacity, middle):
            few = middle
        else:
            many = middle - 1
    return few


def is_holding(capacity: SequenceCapacity, sequences: int) -> bool:
    """Whether so many usual sequences fit, and one of full length alone."""
    free_bytes = budget_for(capacity, sequences).kv_room_bytes - _draft_weights(capacity)
    usual = sequence_bytes(capacity, capacity.usual_tokens) * sequences
    return usual <= free_bytes and sequence_bytes(capacity, capacity.context_tokens) <= free_bytes


def sequence_bytes(capacity: SequenceCapacity, tokens: int) -> float:
    """What one sequence takes on each chip, in the target's cache and in the draft's."""
    layout = capacity.layout
    target = kv_sequence_share_bytes(layout, tokens) * _copies(layout.model, layout.tp, capacity.ranks) * _scale(layout)
    if capacity.draft is None:
        return target
    draft = kv_bytes_per_sequence(capacity.draft, tokens, layout.kv_precision) * kv_share(capacity.draft, layout.tp)
    return target + draft * _copies(capacity.draft, layout.tp, capacity.ranks) * _scale(layout)


def _draft_weights(capacity: SequenceCapacity) -> float:
    if capacity.draft is None:
        return 0.0
    return weight_bytes(capacity.draft, capacity.draft.checkpoint_precision) / capacity.layout.tp


def _copies(model: ModelSpec, tp: int, ranks: int) -> float:
    """Where a chip is several ranks each keeps whole heads, so a chip may hold more than its even share."""
    return kv_share(model, ranks) * (ranks / tp) / kv_share(model, tp)


def _scale(layout: Layout) -> float:
    is_eight_bit = layout.engine is EngineKind.LLAMACPP and layout.kv_precision is Precision.INT8
    return Q8_0_SCALE if is_eight_bit else 1.0
