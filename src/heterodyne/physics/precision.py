"""Number formats, and how many bytes a number of each takes."""

from enum import StrEnum


class Precision(StrEnum):
    """Formats that weights, activations or KV entries are kept in."""

    FP32 = "fp32"
    BF16 = "bf16"
    FP16 = "fp16"
    FP8 = "fp8"
    INT8 = "int8"
    FP4 = "fp4"
    INT4 = "int4"


# Four-bit formats carry a scale for every 16 to 128 numbers: about half a bit each.
BYTES: dict[Precision, float] = {
    Precision.FP32: 4.0,
    Precision.BF16: 2.0,
    Precision.FP16: 2.0,
    Precision.FP8: 1.0,
    Precision.INT8: 1.0,
    Precision.FP4: 0.5625,
    Precision.INT4: 0.5625,
}
