"""Which format each tensor of a GGUF has, by the name of the whole file's: `q4_k_m` is a mix."""

import gguf

from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.registry.gguf.quantise import fitting

TYPE = gguf.GGMLQuantizationType
FILE = gguf.LlamaFileType
# By its name: what most tensors have, what those that matter more have, and the number that says so in the file.
PRECISIONS: dict[str, tuple[gguf.GGMLQuantizationType, gguf.GGMLQuantizationType, gguf.LlamaFileType]] = {
    "fp32": (TYPE.F32, TYPE.F32, FILE.ALL_F32),
    "fp16": (TYPE.F16, TYPE.F16, FILE.MOSTLY_F16),
    "bf16": (TYPE.BF16, TYPE.BF16, FILE.MOSTLY_BF16),
    "q8_0": (TYPE.Q8_0, TYPE.Q8_0, FILE.MOSTLY_Q8_0),
    "q5_1": (TYPE.Q5_1, TYPE.Q5_1, FILE.MOSTLY_Q5_1),
    "q5_0": (TYPE.Q5_0, TYPE.Q5_0, FILE.MOSTLY_Q5_0),
    "q4_1": (TYPE.Q4_1, TYPE.Q4_1, FILE.MOSTLY_Q4_1),
    "q4_0": (TYPE.Q4_0, TYPE.Q4_0, FILE.MOSTLY_Q4_0),
    "q6_k": (TYPE.Q6_K, TYPE.Q6_K, FILE.MOSTLY_Q6_K),
    "q5_k_m": (TYPE.Q5_K, TYPE.Q6_K, FILE.MOSTLY_Q5_K_M),
    "q5_k_s": (TYPE.Q5_K, TYPE.Q5_K, FILE.MOSTLY_Q5_K_S),
    "q4_k_m": (TYPE.Q4_K, TYPE.Q6_K, FILE.MOSTLY_Q4_K_M),
    "q4_k_s": (TYPE.Q4_K, TYPE.Q4_K, FILE.MOSTLY_Q4_K_S),
    "q3_k_s": (TYPE.Q3_K, TYPE.Q3_K, FILE.MOSTLY_Q3_K_S),
    "q2_k": (TYPE.Q2_K, TYPE.Q3_K, FILE.MOSTLY_Q2_K),
}
WHOLE = ("fp32", "fp16", "bf16")
HEADS = ("output.weight", "token_embd.weight")  # one of them is the head, which errors show in most
NAMED = {int(file): name for name, (_, _, file) in PRECISIONS.items()}


def check_precision(name: str) -> None:
    """Raise where a file cannot have it."""
    if name not in PRECISIONS:
        raise WeightsUnavailable(f'a GGUF has no precision "{name}"; {", ".join(PRECISIONS)} are there')


def kind_of(name: str, shape: tuple[int, ...], precision: str, layers: int) -> int:
    """The format of one tensor. Vectors, and what is added to activations, stay in 32 bits."""
    if len(shape) == 1:
        return TYPE.F32
    most, more, _ = PRECISIONS[precision]
    if precision in WHOLE:
        return most
    is_mixed = more is not most
    if name in HEADS and (is_mixed or most in (TYPE.Q4_0, TYPE.Q4_1, TYPE.Q5_0, TYPE.Q5_1)):
        return fitting(TYPE.Q6_K if is_mixed else TYPE.Q8_0, shape[-1])
    if is_mixed and name.endswith(("attn_v.weight", "ffn_down.weight")) and _matters(name, layers):
        return fitting(more, shape[-1])
    return fitting(most, shape[-1])


def _matters(name: str, layers: int) -> bool:
    """The first and last eighth of all layers and every third between, as llama.cpp's mixes have it."""
    layer, eighth = int(name.split(".")[1]), layers // 8
    return layer < eighth or layer >= 7 * layers // 8 or (layer - eighth) % 3 == 2
