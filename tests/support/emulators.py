"""Emulated replicas for tests: a small model on a fast chip, so that a test waits for milliseconds."""

from heterodyne.emulator.order import EmulatorOrder
from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.memory import Layout
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.physics.profile_catalogue import profile_for
from heterodyne.physics.replica.from_layout import scheduling_of

CONTEXT_TOKENS = 4096


def order(engine: EngineKind = EngineKind.VLLM, **changes: object) -> EmulatorOrder:
    """Llama 8B on an H100, ten times as fast as it would be."""
    spec, chip = model_spec("llama-3.1-8b"), accelerator("h100")
    layout = Layout(model=spec, accelerator=chip, precision=Precision.FP8, engine=engine)
    fields: dict[str, object] = {
        "layout": layout,
        "found": profile_for(spec, chip, engine=engine, precision=Precision.FP8, tp=1),
        "scheduling": scheduling_of(layout, context_tokens=CONTEXT_TOKENS),
        "served_model": "llama-3.1-8b",
        "context_tokens": CONTEXT_TOKENS,
        "output_tokens_mean": 20,
        "speed": 10.0,
    }
    return EmulatorOrder(**{**fields, **changes})  # type: ignore[arg-type]
