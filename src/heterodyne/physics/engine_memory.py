"""What an engine takes of a chip before keys and values: the share it claims, its activations, its fixed cost.

vLLM's numbers are fitted to measured starts on H100 (`plan_mem` in the catalogue's sources): the peak is the sampler's
warm-up over every slot and the whole vocabulary, on every chip alike, and it does not depend on the context.
SGLang's and TensorRT-LLM's come from aiconfigurator, llama.cpp's from its buffers; we have not measured those.
"""

from msgspec import Struct

from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.hardware import Accelerator
from heterodyne.physics.model_spec import ModelSpec

GIB = 2**30
LARGE_CHIP_BYTES = 70 * GIB  # from here on vLLM opens four times the slots, except on Ampere
LARGE_CHIP_SLOTS = 1024
SMALL_CHIP_SLOTS = 256


class EngineMemory(Struct, frozen=True, kw_only=True):
    """How one engine spends memory."""

    memory_fraction: float  # it claims by default
    is_fraction_of_free: bool = False  # of what weights, activations and overhead leave, instead of all
    are_activations_claimed: bool = True  # False: they live outside the claimed fraction
    logit_bytes: float  # per slot and vocabulary entry
    hidden_bytes: float  # per token of a step and unit of the hidden width
    step_tokens: int
    overhead_bytes: float
    overhead_bytes_by_chips: tuple[tuple[int, float], ...] = ()  # (from this many chips, so much more)
    slots: int | None = None  # None: by the size of the chip


ENGINES: dict[EngineKind, EngineMemory] = {
    EngineKind.VLLM: EngineMemory(
        memory_fraction=0.92,
        logit_bytes=38.1,
        hidden_bytes=2.56,
        step_tokens=8192,
        overhead_bytes=0.13 * GIB,
        overhead_bytes_by_chips=((2, 0.42 * GIB), (4, 0.47 * GIB)),
    ),
    EngineKind.SGLANG: EngineMemory(
        memory_fraction=0.88,
        are_activations_claimed=False,
        logit_bytes=4.0,
        hidden_bytes=8.0,
        step_tokens=8192,
        overhead_bytes=3.5 * GIB,
        overhead_bytes_by_chips=((2, 0.33 * GIB), (4, 0.38 * GIB)),
    ),
    EngineKind.TENSORRT_LLM: EngineMemory(
        memory_fraction=0.9,
        is_fraction_of_free=True,
        logit_bytes=4.0,
        hidden_bytes=8.0,
        step_tokens=8192,
        overhead_bytes=3.5 * GIB,
        overhead_bytes_by_chips=((2, 0.33 * GIB), (4, 0.38 * GIB)),
    ),
    EngineKind.LLAMACPP: EngineMemory(
        memory_fraction=1.0,
        logit_bytes=4.0,
        hidden_bytes=32.0,
        step_tokens=512,
        overhead_bytes=0.5 * GIB,
        slots=512,  # logits of a whole step
    ),
}


def activation_bytes(spec: ModelSpec, engine: EngineMemory, slots: int) -> float:
    """The engine's largest moment, on each chip."""
    logits = slots * spec.vocabulary * engine.logit_bytes
    return logits + engine.step_tokens * spec.hidden * engine.hidden_bytes


def overhead_bytes(engine: EngineMemory, chips: int) -> float:
    """What runtime and communication hold on each of so many chips."""
    extra = [more for first, more in engine.overhead_bytes_by_chips if chips >= first]
    return engine.overhead_bytes + (extra[-1] if extra else 0.0)


def default_slots(engine: EngineMemory, chip: Accelerator) -> int:
    """How many sequences the engine is ready for by default."""
    if engine.slots is not None:
        return engine.slots
    is_large = chip.memory_bytes >= LARGE_CHIP_BYTES and chip.architecture != "ampere"
    return LARGE_CHIP_SLOTS if is_large else SMALL_CHIP_SLOTS
