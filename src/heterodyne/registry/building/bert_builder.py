"""A BERT embedding model in SafeTensors to the GGUF that llama.cpp embeds with."""

from heterodyne.domain.artifact import WeightFormat
from heterodyne.registry.building.builder import BERT, Builder, BuildOrder, OnStep
from heterodyne.registry.conversion.bert_gguf import convert


def _to_gguf(order: BuildOrder, on_step: OnStep) -> None:
    order.target.mkdir(parents=True, exist_ok=True)
    convert(order.source, order.target / f"{order.model}.{order.precision}.gguf", name=order.model)
    on_step(1, 1)


BERT_TO_GGUF = Builder(
    name="bert-to-gguf",
    version=1,
    takes=WeightFormat.SAFETENSORS,
    makes=WeightFormat.GGUF,
    precisions=("fp16",),
    run=_to_gguf,
    tools=("gguf", "numpy"),
    kinds=(BERT,),
)
