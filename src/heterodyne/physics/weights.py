"""Bytes of weights in a precision: what quantising leaves alone counts at sixteen bits."""

from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.parameters import parameters
from heterodyne.physics.precision import BYTES, Precision


def weight_bytes(spec: ModelSpec, precision: Precision) -> float:
    """The whole model; the checkpoint's own size where the file was seen in this precision."""
    if spec.checkpoint_bytes is not None and precision is spec.checkpoint_precision:
        return spec.checkpoint_bytes
    count = parameters(spec)
    kept = _parameters_kept(spec, precision)
    return (count.total - kept) * BYTES[precision] + kept * BYTES[Precision.BF16]


def _parameters_kept(spec: ModelSpec, precision: Precision) -> int:
    """How many stay at sixteen bits: embeddings, head and norms; around four-bit float experts, everything else."""
    if BYTES[precision] >= BYTES[Precision.BF16]:
        return 0
    count = parameters(spec)
    if precision is Precision.FP4 and spec.experts is not None:
        return count.outside_experts
    return count.embedding + count.head + count.norms + count.router
