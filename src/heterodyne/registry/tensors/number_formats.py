"""The number formats of checkpoints by their SafeTensors names, and bfloat16, which numpy has no name for."""

import numpy as np

from heterodyne.domain.errors import WeightsUnavailable

BF16 = "BF16"
# Of each name, what numpy reads its bytes as. Eight-bit floats stay bytes: they mean something with their scales only.
NUMPY: dict[str, np.dtype] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    BF16: np.dtype("<u2"),
    "F8_E4M3": np.dtype("u1"),
    "F8_E5M2": np.dtype("u1"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "I16": np.dtype("<i2"),
    "I8": np.dtype("i1"),
    "U64": np.dtype("<u8"),
    "U32": np.dtype("<u4"),
    "U16": np.dtype("<u2"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}
# The three that whole checkpoints come in, by the words of settings and artifacts.
BY_PRECISION = {"fp32": "F32", "fp16": "F16", "bf16": BF16}
CONFIG_WORDS = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}  # as `config.json` has them
PRECISIONS = {name: precision for precision, name in BY_PRECISION.items()}
F16_MAX = 65504.0


def to_float32(numbers: np.ndarray, name: str) -> np.ndarray:
    """The values, whatever float they were stored as."""
    if name == BF16:
        widened: np.ndarray = (numbers.astype(np.uint32) << 16).view(np.float32)
        return widened
    if name not in ("F64", "F32", "F16"):
        raise WeightsUnavailable(f"weights: numbers stored as {name} have no value without their scales")
    return numbers.astype(np.float32)


def from_float32(values: np.ndarray, name: str) -> np.ndarray:
    """The bytes of the values in a float format, rounded to the nearest; one that F16 cannot hold is its largest."""
    if name == BF16:
        return _bfloat16(values)
    if name == "F16":
        bounded: np.ndarray = np.clip(values, -F16_MAX, F16_MAX)
        return bounded.astype(NUMPY[name])
    return values.astype(NUMPY[name])


def _bfloat16(values: np.ndarray) -> np.ndarray:
    """Half way goes to the even neighbour, as hardware rounds."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    is_nan = (bits & 0x7FFFFFFF) > 0x7F800000
    return np.where(is_nan, (bits >> 16) | 0x40, rounded).astype(np.uint16)
