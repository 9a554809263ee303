"""The surface of every engine."""

from heterodyne.emulator.engine import EmulatedEngine
from heterodyne.emulator.surface import Surface
from heterodyne.emulator.surfaces.llamacpp.surface import LLAMACPP
from heterodyne.emulator.surfaces.sglang.surface import SGLANG
from heterodyne.emulator.surfaces.tensorrt_llm.surface import tensorrt_llm
from heterodyne.emulator.surfaces.vllm.surface import VLLM
from heterodyne.physics.engine_kind import EngineKind


def surface_of(engine: EmulatedEngine) -> Surface:
    """What this engine shows."""
    match engine.order.layout.engine:
        case EngineKind.VLLM:
            return VLLM
        case EngineKind.SGLANG:
            return SGLANG
        case EngineKind.TENSORRT_LLM:
            return tensorrt_llm(engine)
        case EngineKind.LLAMACPP:
            return LLAMACPP
