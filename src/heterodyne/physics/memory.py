"""Where a chip's memory goes when a model is laid out on it, how many sequences what remains holds, and how long."""

from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.engine_memory import ENGINES, activation_bytes, default_slots, overhead_bytes
from heterodyne.physics.hardware import Accelerator
from heterodyne.physics.kv import kv_bytes_per_sequence, kv_share
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.precision import Precision
from heterodyne.physics.weights import weight_bytes


class Layout(Struct, frozen=True, kw_only=True):
    """One model on equal chips under one engine."""

    model: ModelSpec
    accelerator: Accelerator
    precision: Precision
    kv_precision: Precision = Precision.BF16
    tp: int = 1
    engine: EngineKind = EngineKind.VLLM
    memory_fraction: float | None = None  # None: the engine's default
    slots: int | None = None  # sequences the engine makes ready for; None: its default


class Demand(Struct, frozen=True, kw_only=True):
    """What a layout shall hold at once."""

    context_tokens: int
    concurrency: int = 1


class MemoryBudget(Struct, frozen=True, kw_only=True):
    """The memory of one chip of a layout, in bytes; the parts, room and unclaimed together are the whole."""

    memory_bytes: float
    weights_bytes: float
    activation_bytes: float
    overhead_bytes: float
    kv_room_bytes: float  # for keys and values; below zero by what the rest lacks
    unclaimed_bytes: float  # that the engine leaves alone
    kv_sequence_bytes: float  # the share of one sequence of the asked length
    kv_bytes: float  # all asked sequences
    concurrency_max: int  # sequences of the asked length that fit
    context_max_tokens: int  # the longest sequences that fit as many times as asked, within the model's context

    @property
    def free_bytes(self) -> float:
        """Room that the demand leaves; below zero by what it lacks."""
        return self.kv_room_bytes - self.kv_bytes

    @property
    def is_fitting(self) -> bool:
        """Whether the demand fits."""
        return self.free_bytes >= 0


def memory_budget(layout: Layout, demand: Demand) -> MemoryBudget:
    """The budget of each chip; raises `InvalidSpec` for numbers that cannot be."""
    check(layout, demand)
    model, memory_bytes = layout.model, layout.accelerator.memory_bytes
    engine = ENGINES[layout.engine]
    fraction = engine.memory_fraction if layout.memory_fraction is None else layout.memory_fraction
    weights = weight_bytes(model, layout.precision) / layout.tp
    activations = activation_bytes(model, engine, ready_slots(layout))
    overhead = overhead_bytes(engine, layout.tp)
    left = memory_bytes - weights - activations - overhead
    if engine.is_fraction_of_free:
        room = left * fraction if left > 0 else left
    elif engine.are_activations_claimed:
        room = left - memory_bytes * (1 - fraction)
    else:
        room = min(memory_bytes * fraction - weights, left)
    sequence = kv_sequence_share_bytes(layout, demand.context_tokens)
    return MemoryBudget(
        memory_bytes=memory_bytes,
        weights_bytes=weights,
        activation_bytes=activations,
        overhead_bytes=overhead,
        kv_room_bytes=room,
        unclaimed_bytes=left - room,
        kv_sequence_bytes=sequence,
        kv_bytes=sequence * demand.concurrency,
        concurrency_max=max(0, int(room // sequence)),
        context_max_tokens=_longest_context(layout, room, demand.concurrency),
    )


def ready_slots(layout: Layout) -> int:
    """Sequences the engine makes ready for."""
    return layout.slots or default_slots(ENGINES[layout.engine], layout.accelerator)


def kv_sequence_share_bytes(layout: Layout, tokens: int) -> float:
    """What one sequence takes on each chip."""
    whole = kv_bytes_per_sequence(layout.model, tokens, layout.kv_precision)
    return whole * kv_share(layout.model, layout.tp)


def check(layout: Layout, demand: Demand) -> None:
    """Raise `InvalidSpec` when a number of the layout or the demand makes no sense."""
    numbers = {"tp": layout.tp, "context": demand.context_tokens, "concurrency": demand.concurrency}
    if layout.slots is not None:
        numbers["slots"] = layout.slots
    for name, number in numbers.items():
        if number < 1:
            raise InvalidSpec(f"{name}: {number} is not a whole number above zero")
    if layout.memory_fraction is not None and not 0 < layout.memory_fraction <= 1:
        raise InvalidSpec(f"memory fraction: {layout.memory_fraction:g} is not above 0 and at most 1")
    if layout.model.heads % layout.tp:
        raise InvalidSpec(
            f"tp: {layout.tp} chips cannot share the {layout.model.heads} heads of {layout.model.name} "
            f"evenly; try {_nearest_divisor(layout.model.heads, layout.tp)}"
        )


def _longest_context(layout: Layout, room_bytes: float, concurrency: int) -> int:
    """Bisection: a longer sequence never takes less."""
    short, long = 0, layout.model.context_tokens  # `short` fits; what is above `long` does not count
    while short < long:
        middle = (short + long + 1) // 2
        if kv_sequence_share_bytes(layout, middle) * concurrency <= room_bytes:
            short = middle
        else:
            long = middle - 1
    return short


def _nearest_divisor(number: int, wanted: int) -> int:
    divisors = [one for one in range(1, number + 1) if number % one == 0]
    return min(divisors, key=lambda one: (abs(one - wanted), one))
