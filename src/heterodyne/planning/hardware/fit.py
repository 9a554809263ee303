"""Does a model fit, and if not, what would make it: the changes that suffice, the smallest first."""

from collections.abc import Iterator, Mapping
from enum import StrEnum

import msgspec
from msgspec import Struct

from heterodyne.domain.counted import counted
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.hardware import Accelerator
from heterodyne.physics.memory import Demand, Layout, MemoryBudget, memory_budget, ready_slots
from heterodyne.physics.precision import BYTES, Precision
from heterodyne.planning.platform import joined_widths

SLOTS_MIN = 64  # an engine ready for fewer is not serving
MORE_MEMORY = 1.1  # a chip with hardly more is no answer
CONTEXT_SHARE_MIN = 0.25  # a context shortened further is another job, not a smaller change


class FitChangeKind(StrEnum):
    """What is changed, from what costs least to what costs most."""

    SLOTS = "slots"
    KV_PRECISION = "kv_precision"
    CONCURRENCY = "concurrency"
    CONTEXT = "context"
    PRECISION = "precision"
    TP = "tp"
    PRECISION_AND_TP = "precision_and_tp"
    HARDWARE = "hardware"


class FitChange(Struct, frozen=True, kw_only=True):
    """One change after which the demand fits."""

    kind: FitChangeKind
    sentence: str  # what to do
    layout: Layout
    demand: Demand
    budget: MemoryBudget


class Fit(Struct, frozen=True, kw_only=True):
    """The answer: a budget, and where it does not fit the changes that would."""

    layout: Layout
    demand: Demand
    budget: MemoryBudget
    changes: tuple[FitChange, ...] = ()  # smallest first; empty when it fits, or when nothing we know of suffices

    @property
    def is_fitting(self) -> bool:
        """Whether the demand fits as it was asked."""
        return self.budget.is_fitting


def fit(layout: Layout, demand: Demand, catalogue: Mapping[str, Accelerator]) -> Fit:
    """Lay a model out and look for the smallest change when it does not fit."""
    budget = memory_budget(layout, demand)
    if budget.is_fitting:
        return Fit(layout=layout, demand=demand, budget=budget)
    found: dict[FitChangeKind, FitChange] = {}
    for change in _candidates(layout, demand, budget, catalogue):
        if change.budget.is_fitting:
            found.setdefault(change.kind, change)
    if FitChangeKind.PRECISION in found or FitChangeKind.TP in found:
        found.pop(FitChangeKind.PRECISION_AND_TP, None)  # one of the two is enough
    return Fit(layout=layout, demand=demand, budget=budget, changes=tuple(found.values()))


def _candidates(
    layout: Layout, demand: Demand, budget: MemoryBudget, catalogue: Mapping[str, Accelerator]
) -> Iterator[FitChange]:
    """Changes worth trying, the smallest of each kind first."""
    slots, slots_now = max(SLOTS_MIN, demand.concurrency), ready_slots(layout)
    if slots < slots_now and layout.engine is not EngineKind.LLAMACPP:  # whose buffers do not follow its slots
        fewer = msgspec.structs.replace(layout, slots=slots)
        yield _change(
            FitChangeKind.SLOTS,
            f"make the engine ready for {counted(slots, 'slot')} instead of {slots_now}",
            fewer,
            demand,
        )
    if BYTES[layout.kv_precision] > BYTES[Precision.FP8]:
        smaller = msgspec.structs.replace(layout, kv_precision=Precision.FP8)
        yield _change(FitChangeKind.KV_PRECISION, "keep keys and values in fp8", smaller, demand)
    yield from _smaller_demands(layout, demand, budget)
    for precision in _lower_precisions(layout):
        smaller = msgspec.structs.replace(layout, precision=precision)
        yield _change(FitChangeKind.PRECISION, f"keep the weights in {precision}", smaller, demand)
    for tp in _wider(layout):
        wider = msgspec.structs.replace(layout, tp=tp)
        yield _change(FitChangeKind.TP, f"split it over {tp} chips (tp {tp})", wider, demand)
    for precision in _lower_precisions(layout):  # rather more chips than fewer bits
        for tp in _wider(layout):
            both = msgspec.structs.replace(layout, precision=precision, tp=tp)
            sentence = f"keep the weights in {precision} and split them over {tp} chips (tp {tp})"
            yield _change(FitChangeKind.PRECISION_AND_TP, sentence, both, demand)
    for chip in _larger_chips(layout, catalogue):
        other = msgspec.structs.replace(layout, accelerator=chip)
        yield _change(FitChangeKind.HARDWARE, f"take {chip.name}{_times(layout.tp)}", other, demand)


def _smaller_demands(layout: Layout, demand: Demand, budget: MemoryBudget) -> Iterator[FitChange]:
    if budget.concurrency_max >= 1:
        fewer = msgspec.structs.replace(demand, concurrency=budget.concurrency_max)
        sentence = f"serve {counted(budget.concurrency_max, 'sequence')} at once instead of {demand.concurrency}"
        yield _change(FitChangeKind.CONCURRENCY, sentence, layout, fewer)
    if budget.context_max_tokens >= demand.context_tokens * CONTEXT_SHARE_MIN:
        shorter = msgspec.structs.replace(demand, context_tokens=budget.context_max_tokens)
        sentence = f"limit the context to {budget.context_max_tokens} tokens"
        yield _change(FitChangeKind.CONTEXT, sentence, layout, shorter)


def _lower_precisions(layout: Layout) -> list[Precision]:
    """What the chip can keep weights in with fewer bytes: the largest first, of equals what it multiplies in."""
    chip = layout.accelerator
    lower = [one for one in chip.precisions if BYTES[one] < BYTES[layout.precision]]
    return sorted(lower, key=lambda one: (-BYTES[one], one not in chip.flops, one is Precision.FP4))


def _wider(layout: Layout) -> list[int]:
    """More chips of a host, as they are sold and joined, that share the heads evenly."""
    return [tp for tp in joined_widths(layout.accelerator) if tp > layout.tp and layout.model.heads % tp == 0]


def _larger_chips(layout: Layout, catalogue: Mapping[str, Accelerator]) -> list[Accelerator]:
    """Chips with more memory that run the same engine and precision, joined as widely; the smallest first."""
    here = layout.accelerator
    larger = [
        chip
        for chip in catalogue.values()
        if chip.memory_bytes > here.memory_bytes * MORE_MEMORY
        and layout.precision in chip.precisions
        and layout.engine in chip.engines
        and layout.tp in joined_widths(chip)
    ]
    return sorted(larger, key=lambda chip: chip.memory_bytes)


def _times(count: int) -> str:
    return "" if count == 1 else f" ({count} of them)"


def _change(kind: FitChangeKind, sentence: str, layout: Layout, demand: Demand) -> FitChange:
    budget = memory_budget(layout, demand)
    return FitChange(kind=kind, sentence=sentence, layout=layout, demand=demand, budget=budget)
