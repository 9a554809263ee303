"""Every builder there is."""

from collections.abc import Iterable

from heterodyne.domain.artifact import WeightFormat
from heterodyne.domain.errors import UnknownName
from heterodyne.registry.building.bert_builder import BERT_TO_GGUF
from heterodyne.registry.building.builder import DECODER, Builder
from heterodyne.registry.building.cast import CAST
from heterodyne.registry.building.compressed_tensors_builder import COMPRESSED_TENSORS
from heterodyne.registry.building.gguf_builder import TO_GGUF, TO_SAFETENSORS
from heterodyne.registry.building.lora import LORA
from heterodyne.registry.building.orbax_builder import TO_ORBAX
from heterodyne.registry.building.tensorrt_llm import TENSORRT_LLM

BUILDERS: tuple[Builder, ...] = (
    TO_SAFETENSORS,
    TO_GGUF,
    BERT_TO_GGUF,
    CAST,
    COMPRESSED_TENSORS,
    LORA,
    TO_ORBAX,
    TENSORRT_LLM,
)


def builder_for(
    takes: WeightFormat, makes: WeightFormat, precision: str, settings: Iterable[str] = (), kind: str = DECODER
) -> Builder:
    """The first that makes it of a model of this kind and knows the settings; raises what can be made instead."""
    of_kind = [one for one in BUILDERS if one.takes is takes and kind in one.kinds]
    able = [one for one in of_kind if one.makes is makes]
    precise = [one for one in able if precision in one.precisions]
    wanted = set(settings)
    found = next((one for one in precise if wanted <= set(one.settings)), None)
    if found is not None:
        return found
    if precise:
        raise UnknownName(_no_such_settings(f"{makes} {precision}", wanted, precise))
    if able:
        listed = ", ".join(dict.fromkeys(precision for one in able for precision in one.precisions))
        raise UnknownName(f'no builder makes {makes} of the precision "{precision}"; {listed} are made')
    made = ", ".join(sorted({one.makes for one in of_kind}))
    raise UnknownName(f"no builder makes {makes} of {takes}; {made or 'nothing'} is made of it")


def _no_such_settings(what: str, wanted: set[str], builders: Iterable[Builder]) -> str:
    """The first setting that the builder which knows most of them does not know."""
    known = [set(one.settings) for one in builders]
    nearest = max(known, key=lambda names: len(wanted & names))
    listed = ", ".join(sorted(set().union(*known))) or "it has none"
    return f'a build of {what} has no setting "{min(wanted - nearest)}"; {listed}'
