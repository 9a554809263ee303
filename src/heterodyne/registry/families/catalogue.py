"""Every family that is converted, by what `config.json` and GGUF call it."""

from collections.abc import Mapping

from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.registry.families.decoder_shape import DecoderShape, shape_of_config
from heterodyne.registry.families.family import (
    ATTENTION,
    ATTENTION_BIASES,
    BEFORE_FEED_FORWARD,
    FEED_FORWARD,
    FOUR_NORMS,
    HEAD_NORMS,
    Family,
)

GELU = "gelu_pytorch_tanh"

LLAMA = Family(
    name="llama",
    architectures={"llama": "LlamaForCausalLM", "mistral": "MistralForCausalLM"},
    gguf="llama",
    layer=(*ATTENTION, *BEFORE_FEED_FORWARD, *FEED_FORWARD),
    rotates_neighbours=True,
)
QWEN2 = Family(
    name="qwen2",
    architectures={"qwen2": "Qwen2ForCausalLM"},
    gguf="qwen2",
    layer=(*ATTENTION, *ATTENTION_BIASES, *BEFORE_FEED_FORWARD, *FEED_FORWARD),
)
QWEN3 = Family(
    name="qwen3",
    architectures={"qwen3": "Qwen3ForCausalLM"},
    gguf="qwen3",
    layer=(*ATTENTION, *HEAD_NORMS, *BEFORE_FEED_FORWARD, *FEED_FORWARD),
)
GEMMA = Family(
    name="gemma",
    architectures={"gemma": "GemmaForCausalLM"},
    gguf="gemma",
    layer=(*ATTENTION, *BEFORE_FEED_FORWARD, *FEED_FORWARD),
    activation=GELU,
    norm_shift=1.0,
)
GEMMA2 = Family(
    name="gemma2",
    architectures={"gemma2": "Gemma2ForCausalLM"},
    gguf="gemma2",
    layer=(*ATTENTION, *FOUR_NORMS, *FEED_FORWARD),
    activation=GELU,
    norm_shift=1.0,
    window_pattern=2,
)
GEMMA3 = Family(
    name="gemma3",
    architectures={"gemma3_text": "Gemma3ForCausalLM"},
    gguf="gemma3",
    layer=(*ATTENTION, *HEAD_NORMS, *FOUR_NORMS, *FEED_FORWARD),
    activation=GELU,
    norm_shift=1.0,
    window_pattern=6,
)

FAMILIES = (LLAMA, QWEN2, QWEN3, GEMMA, GEMMA2, GEMMA3)
BY_MODEL_TYPE = {model_type: family for family in FAMILIES for model_type in family.architectures}
BY_GGUF = {family.gguf: family for family in FAMILIES}
PATTERNS = {
    model_type: family.window_pattern
    for model_type, family in BY_MODEL_TYPE.items()
    if family.window_pattern is not None
}


def family_of_config(file: str, config: Mapping[str, object]) -> tuple[Family, DecoderShape]:
    """The family and the shape of a decoder by its `config.json`; raises what is not known or missing."""
    model_type = config.get("model_type")
    family = BY_MODEL_TYPE.get(str(model_type))
    if family is None:
        raise WeightsUnavailable(
            f'{file}: the architecture "{model_type}" is not known; {", ".join(BY_MODEL_TYPE)} and bert are'
        )
    return family, shape_of_config(file, config, PATTERNS)


def family_of_gguf(file: str, architecture: object) -> Family:
    """The same by `general.architecture`."""
    family = BY_GGUF.get(str(architecture))
    if family is None:
        raise WeightsUnavailable(f'{file}: the architecture "{architecture}" is not known; {", ".join(BY_GGUF)} are')
    return family
