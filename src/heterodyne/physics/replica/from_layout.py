"""The step machine of a layout: speed from the nearest profile, memory from the budget, manners from the engine.

Batch sizes and block sizes are the engines' own defaults (documentation of vLLM 0.22, SGLang 0.5, TensorRT-LLM 1.2,
llama.cpp of August 2026).
"""

from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.engine_memory import LARGE_CHIP_BYTES
from heterodyne.physics.memory import Demand, Layout, memory_budget, ready_slots
from heterodyne.physics.parallelism import Parallelism
from heterodyne.physics.placement import Placement, place
from heterodyne.physics.profile import Profile
from heterodyne.physics.replica.job import Scheduling
from heterodyne.physics.replica.machine import ReplicaMachine
from heterodyne.physics.replica.step_clock import StepClock
from heterodyne.physics.step_time import Speculation
from heterodyne.physics.work import work


class BatchingDefaults(Struct, frozen=True, kw_only=True):
    """How an engine fills a step by default."""

    step_tokens: int
    step_tokens_small_chip: int
    block_tokens: int
    mixes_prompts: bool = True
    slots: int | None = None  # None: as many as it makes memory ready for


BATCHING_DEFAULTS: dict[EngineKind, BatchingDefaults] = {
    EngineKind.VLLM: BatchingDefaults(step_tokens=8192, step_tokens_small_chip=2048, block_tokens=16),
    # It shares prefixes by the token; a block of sixteen keeps our book short and loses half a block per request.
    EngineKind.SGLANG: BatchingDefaults(
        step_tokens=8192, step_tokens_small_chip=2048, block_tokens=16, mixes_prompts=False
    ),
    EngineKind.TENSORRT_LLM: BatchingDefaults(step_tokens=8192, step_tokens_small_chip=8192, block_tokens=32),
    EngineKind.LLAMACPP: BatchingDefaults(step_tokens=2048, step_tokens_small_chip=2048, block_tokens=16, slots=4),
}


def machine_of(
    layout: Layout, profile: Profile, scheduling: Scheduling, *, speculation: Speculation | None = None
) -> ReplicaMachine:
    """A machine with nothing in it."""
    return ReplicaMachine(StepClock(placement_of(layout), profile, speculation=speculation), scheduling)


def placement_of(layout: Layout) -> Placement:
    """The layout's work on its chips."""
    demands = work(layout.model, precision=layout.precision, kv_precision=layout.kv_precision)
    return place(demands, accelerator=layout.accelerator, parallelism=Parallelism(tp=layout.tp))


def scheduling_of(layout: Layout, *, context_tokens: int, step_tokens: int | None = None) -> Scheduling:
    """What the engine would allow itself; `context_tokens` is a usual sequence, which windowed layers make cheaper."""
    defaults = BATCHING_DEFAULTS[layout.engine]
    budget = memory_budget(layout, Demand(context_tokens=context_tokens))
    if budget.concurrency_max < 1:
        lacking_gib = -budget.free_bytes / 2**30
        raise InvalidSpec(
            f"{layout.model.name} in {layout.precision} does not fit on {layout.tp} x {layout.accelerator.name} with "
            f"{context_tokens} tokens of context: {lacking_gib:.1f} GiB a chip are lacking; "
            "`heterodyne plan memory` names the smallest change that fits"
        )
    kv_tokens = budget.kv_room_bytes / budget.kv_sequence_bytes * context_tokens
    is_small = layout.accelerator.memory_bytes < LARGE_CHIP_BYTES
    return Scheduling(
        slots=layout.slots or defaults.slots or ready_slots(layout),
        step_tokens=step_tokens or (defaults.step_tokens_small_chip if is_small else defaults.step_tokens),
        blocks=int(kv_tokens // defaults.block_tokens),
        block_tokens=defaults.block_tokens,
        mixes_prompts=defaults.mixes_prompts,
    )
