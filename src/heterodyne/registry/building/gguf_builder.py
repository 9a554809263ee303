"""SafeTensors to GGUF, and back to what others are built from."""

from heterodyne.domain.artifact import WeightFormat
from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.registry.building.builder import Builder, BuildOrder, OnStep
from heterodyne.registry.conversion.gguf_safetensors import gguf_to_safetensors
from heterodyne.registry.conversion.safetensors_gguf import safetensors_to_gguf
from heterodyne.registry.gguf.precision import PRECISIONS
from heterodyne.registry.tensors.number_formats import BY_PRECISION

TOOLS = ("gguf", "numpy", "xllamacpp")


def _to_gguf(order: BuildOrder, on_step: OnStep) -> None:
    safetensors_to_gguf(
        order.source,
        order.target / f"{order.model}.{order.precision}.gguf",
        order.precision,
        name=order.model,
        on_tensor=on_step,
    )


def _to_safetensors(order: BuildOrder, on_step: OnStep) -> None:
    files = sorted(order.source.glob("*.gguf"))
    if len(files) != 1:
        raise WeightsUnavailable(f"{order.source}: holds {len(files)} GGUF files; a model in one converts")
    gguf_to_safetensors(files[0], order.target, order.precision, on_tensor=on_step)


TO_GGUF = Builder(
    name="safetensors-to-gguf",
    version=1,
    takes=WeightFormat.SAFETENSORS,
    makes=WeightFormat.GGUF,
    precisions=tuple(PRECISIONS),
    run=_to_gguf,
    tools=TOOLS,
)
TO_SAFETENSORS = Builder(
    name="gguf-to-safetensors",
    version=1,
    takes=WeightFormat.GGUF,
    makes=WeightFormat.SAFETENSORS,
    precisions=tuple(BY_PRECISION),
    run=_to_safetensors,
    tools=TOOLS,
    is_canonical=True,
)
