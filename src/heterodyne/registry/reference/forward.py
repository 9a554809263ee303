"""One pass through a decoder of any family that is converted, in 32 bits: the log-probabilities of every next token.

It is written on numpy's names, which `jax.numpy` has too: with that one and `jax.jit` the same lines run on a GPU or a
TPU. It computes whole texts without a cache and is meant for a few hundred tokens.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from heterodyne.registry.families.catalogue import BY_MODEL_TYPE
from heterodyne.registry.families.decoder_shape import DecoderShape
from heterodyne.registry.families.family import EMBEDDING, HEAD, LAYER
from heterodyne.registry.reference.positions import frequencies

GELU_INSIDE = math.sqrt(2 / math.pi)
# The name of a projection and what it is given, one row for each token; what it is given instead.
OnInput = Callable[[str, Any], Any]


def log_probabilities(
    shape: DecoderShape,
    weights: Mapping[str, Any],
    tokens: Sequence[int],
    xp: ModuleType = np,
    on_input: OnInput = lambda name, x: x,
) -> Any:
    """Of every token after each of `tokens`: one row for each. `weights` are float32, by their names in SafeTensors."""
    return _Pass(shape, weights, xp, on_input).log_probabilities(tokens)


class _Pass:
    """One model and the arrays it is computed with."""

    def __init__(self, shape: DecoderShape, weights: Mapping[str, Any], xp: ModuleType, on_input: OnInput) -> None:
        family = BY_MODEL_TYPE[shape.model_type]
        self._shape, self._weights, self._xp, self._on_input = shape, weights, xp, on_input
        self._norm_shift = family.norm_shift  # those that GGUF shifts are stored around zero
        self._is_gemma = family.activation != "silu"
        self._has_four_norms = LAYER.format(0) + "pre_feedforward_layernorm.weight" in weights

    def log_probabilities(self, tokens: Sequence[int]) -> Any:
        shape, xp = self._shape, self._xp
        x = self._weight(EMBEDDING)[xp.asarray(tokens)]
        if self._is_gemma:
            x = x * math.sqrt(shape.hidden)
        for number in range(shape.layers):
            x = x + self._attended(x, number)
            x = x + self._fed_forward(x, number)
        x = self._normed(x, "model.norm.weight")
        logits = x @ self._weight(EMBEDDING if shape.has_tied_embeddings else HEAD).T
        if shape.logit_softcap is not None:
            logits = shape.logit_softcap * xp.tanh(logits / shape.logit_softcap)
        highest = logits.max(axis=-1, keepdims=True)
        return logits - highest - xp.log(xp.exp(logits - highest).sum(axis=-1, keepdims=True))

    def _attended(self, x: Any, number: int) -> Any:
        shape, xp, layer = self._shape, self._xp, LAYER.format(number)
        count, groups = x.shape[0], shape.heads // shape.kv_heads
        inside = self._normed(x, layer + "input_layernorm.weight")
        is_windowed = shape.is_windowed(number)
        angles = _angles(shape, count, is_local=is_windowed and shape.local_rope_theta is not None)
        queries, keys, values = (
            self._projected(inside, f"{layer}self_attn.{name}_", heads)
            for name, heads in (("q", shape.heads), ("k", shape.kv_heads), ("v", shape.kv_heads))
        )
        queries = _rotated(queries, angles, xp).reshape(count, shape.kv_heads, groups, shape.head_dim)
        scores = xp.einsum("qkgd,tkd->kgqt", queries, _rotated(keys, angles, xp))
        scores = scores / math.sqrt(shape.query_scalar or shape.head_dim)
        if shape.attention_softcap is not None:
            scores = shape.attention_softcap * xp.tanh(scores / shape.attention_softcap)
        scores = xp.where(_seen(count, shape.window_tokens if is_windowed else None), scores, -xp.inf)
        shares = xp.exp(scores - scores.max(axis=-1, keepdims=True))
        shares = shares / shares.sum(axis=-1, keepdims=True)
        mixed = xp.einsum("kgqt,tkd->qkgd", shares, values).reshape(count, shape.heads * shape.head_dim)
        out = self._times(mixed, layer + "self_attn.o_proj.weight")
        return self._normed(out, layer + "post_attention_layernorm.weight") if self._has_four_norms else out

    def _projected(self, inside: Any, name: str, heads: int) -> Any:
        """Queries, keys or values, by head."""
        made = self._times(inside, name + "proj.weight")
        if name + "proj.bias" in self._weights:
            made = made + self._weight(name + "proj.bias")
        made = made.reshape(inside.shape[0], heads, self._shape.head_dim)
        return self._normed(made, name + "norm.weight") if name + "norm.weight" in self._weights else made

    def _fed_forward(self, x: Any, number: int) -> Any:
        layer = LAYER.format(number)
        before = "pre_feedforward_layernorm" if self._has_four_norms else "post_attention_layernorm"
        inside = self._normed(x, f"{layer}{before}.weight")
        gate, up = (self._times(inside, f"{layer}mlp.{name}_proj.weight") for name in ("gate", "up"))
        activate = _gelu if self._is_gemma else _silu
        out = self._times(activate(gate, self._xp) * up, layer + "mlp.down_proj.weight")
        return self._normed(out, layer + "post_feedforward_layernorm.weight") if self._has_four_norms else out

    def _times(self, x: Any, name: str) -> Any:
        return self._on_input(name, x) @ self._weight(name).T

    def _normed(self, x: Any, name: str) -> Any:
        root = self._xp.sqrt((x * x).mean(axis=-1, keepdims=True) + self._shape.norm_epsilon)
        return x / root * (self._weight(name) + self._norm_shift)

    def _weight(self, name: str) -> Any:
        return self._xp.asarray(self._weights[name])


def _silu(x: Any, xp: ModuleType) -> Any:
    return x / (1 + xp.exp(-x))


def _gelu(x: Any, xp: ModuleType) -> Any:
    return 0.5 * x * (1 + xp.tanh(GELU_INSIDE * (x + 0.044715 * x**3)))


def _angles(shape: DecoderShape, count: int, *, is_local: bool) -> np.ndarray:
    """By how much each pair of numbers is turned at each place."""
    return np.outer(np.arange(count), frequencies(shape, is_local=is_local)).astype(np.float32)


def _rotated(x: Any, angles: np.ndarray, xp: ModuleType) -> Any:
    """A head's first half with its second."""
    half = x.shape[-1] // 2
    left, right = x[..., :half], x[..., half:]
    cos, sin = np.cos(angles)[:, None, :], np.sin(angles)[:, None, :]
    return xp.concatenate((left * cos - right * sin, right * cos + left * sin), axis=-1)


def _seen(count: int, window: int | None) -> np.ndarray:
    """Which places each place looks at: those before it, no further back than the window."""
    back = np.arange(count)[:, None] - np.arange(count)[None, :]
    return (back >= 0) if window is None else (back >= 0) & (back < window)
