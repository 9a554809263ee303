"""Numbers in the formats of llama.cpp, by its own quantiser where ours would be another.

The plain formats are the `gguf` package's; the K-quants are made by `ggml_quantize_chunk` inside the wheel of
llama.cpp, so that a file has the numbers that llama.cpp's own tool would have given it.
"""

import ctypes
from functools import cache
from pathlib import Path

import gguf
import numpy as np

from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.registry.tensors.number_formats import from_float32

TYPE = gguf.GGMLQuantizationType
PLAIN = (TYPE.BF16, TYPE.Q8_0, TYPE.Q4_0, TYPE.Q4_1, TYPE.Q5_0, TYPE.Q5_1)
# What stands in for a format whose blocks a row does not fill, as llama.cpp's tool has it.
NARROW = {TYPE.Q2_K: TYPE.Q4_0, TYPE.Q3_K: TYPE.Q4_0, TYPE.Q4_K: TYPE.Q5_0, TYPE.Q5_K: TYPE.Q5_1, TYPE.Q6_K: TYPE.Q8_0}


def quantised(values: np.ndarray, kind: int) -> bytes:
    """The bytes of a tensor; raises where the wheel of llama.cpp here cannot make them."""
    kind = TYPE(kind)
    if kind is TYPE.F32:
        return np.ascontiguousarray(values, "<f4").tobytes()
    if kind is TYPE.F16:
        return from_float32(values, "F16").tobytes()
    if kind in PLAIN:
        made: np.ndarray = gguf.quants.quantize(np.ascontiguousarray(values, np.float32), kind)
        return made.tobytes()
    return _by_llamacpp(np.ascontiguousarray(values, np.float32), kind)


def fitting(kind: int, columns: int) -> int:
    """The format itself where a row fills its blocks, else the nearest that it does."""
    kind = TYPE(kind)
    if columns % gguf.GGML_QUANT_SIZES[kind][0] == 0:
        return kind
    narrow = NARROW.get(kind, TYPE.F16)
    return narrow if columns % gguf.GGML_QUANT_SIZES[narrow][0] == 0 else TYPE.F16


def _by_llamacpp(values: np.ndarray, kind: gguf.GGMLQuantizationType) -> bytes:
    rows, columns = values.shape
    block, block_bytes = gguf.GGML_QUANT_SIZES[kind]
    made = np.empty(rows * columns // block * block_bytes, np.uint8)
    written = _quantiser()(int(kind), values.ctypes.data, made.ctypes.data, 0, rows, columns, None)
    if written != made.nbytes:
        raise WeightsUnavailable(f"llama.cpp wrote {written} B of {kind.name} where {made.nbytes} were to come")
    return made.tobytes()


@cache
def _quantiser() -> "ctypes._NamedFuncPointer":
    import xllamacpp  # noqa: PLC0415 - a hundred megabytes that only a K-quant needs

    library = next(Path(xllamacpp.__file__).parent.glob("xllamacpp*.so"), None)
    try:
        quantise = ctypes.CDLL(str(library)).ggml_quantize_chunk
    except (OSError, AttributeError) as error:
        raise WeightsUnavailable(
            "llama.cpp's quantiser cannot be reached in the wheel that is installed here (xllamacpp "
            f"{xllamacpp.__version__}); choose q8_0, q5_1, q5_0, q4_1 or q4_0"
        ) from error
    # ggml_quantize_chunk(type, source, target, first number, rows, numbers in a row, importance or null)
    quantise.argtypes = (
        ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p,
    )  # fmt: skip
    quantise.restype = ctypes.c_size_t
    return quantise
