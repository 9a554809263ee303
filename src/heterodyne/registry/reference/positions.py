"""By how much a decoder turns each pair of a head's numbers from one place to the next."""

import numpy as np

from heterodyne.registry.families.decoder_shape import DecoderShape
from heterodyne.registry.gguf.shape_fields import llama3_factors


def frequencies(shape: DecoderShape, *, is_local: bool) -> np.ndarray:
    """One for each pair, in 64 bits; `is_local` in layers with a window and a base of their own."""
    pairs = shape.head_dim // 2
    theta = shape.local_rope_theta if is_local else shape.rope_theta
    assert theta is not None
    turns: np.ndarray = theta ** -(np.arange(pairs, dtype=np.float64) / pairs)
    scaling = shape.rope_scaling
    if scaling is None or is_local:
        return turns
    if scaling.kind == "yarn":
        raise NotImplementedError("positions stretched by yarn have no reference here")
    return turns / (llama3_factors(scaling, shape) if scaling.kind == "llama3" else scaling.factor)
