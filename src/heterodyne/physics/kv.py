"""Bytes of keys and values: of a token, of a sequence, of a sequence's share on one chip; and the time to move them."""

from heterodyne.physics.hardware import Link
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.precision import BYTES, Precision


def kv_bytes_per_token(spec: ModelSpec, precision: Precision = Precision.BF16) -> float:
    """What one more token adds to a sequence that has outgrown the windows."""
    return (spec.layers - _windowed_layers(spec)) * _layer_bytes(spec, precision)


def kv_bytes_per_sequence(spec: ModelSpec, tokens: int, precision: Precision = Precision.BF16) -> float:
    """The whole model's cache of one sequence of this length; a window holds its last tokens only."""
    windowed = _windowed_layers(spec)
    held = min(tokens, spec.window_tokens or tokens)
    return ((spec.layers - windowed) * tokens + windowed * held) * _layer_bytes(spec, precision)


def kv_share(spec: ModelSpec, tp: int) -> float:
    """The part of a sequence's cache that each of `tp` chips holds.

    Whole heads are dealt out, so beyond one head a chip they repeat; a latent has no heads and repeats everywhere.
    """
    if spec.latent is not None:
        return 1.0
    heads_each = -(-spec.kv_heads // tp)
    return heads_each / spec.kv_heads


def transfer_s(kv_bytes: float, link: Link, *, share: float = 1.0) -> float:
    """Time to move KV between two chips that have this share of the link."""
    return link.latency_s + kv_bytes / (link.pair_bytes_per_s * share)


def _layer_bytes(spec: ModelSpec, precision: Precision) -> float:
    """One token in one layer."""
    if spec.latent is not None:
        return (spec.latent.kv_rank + spec.latent.rope_dim) * BYTES[precision]
    return 2 * spec.kv_heads * spec.head_dim * BYTES[precision]


def _windowed_layers(spec: ModelSpec) -> int:
    return 0 if spec.window_tokens is None else spec.windowed_layers
