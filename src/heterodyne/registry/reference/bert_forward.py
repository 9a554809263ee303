"""One pass through a BERT embedding model in 32 bits: the vector of a text, of length one."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from heterodyne.registry.conversion.bert_gguf import BertConfig

PREFIX = "bert."  # that some checkpoints put before every name
_ERF = np.vectorize(math.erf, otypes=[np.float32])


def embedding(config: BertConfig, weights: Mapping[str, np.ndarray], tokens: Sequence[int]) -> np.ndarray:
    """The mean of what the last layer says at every token. `weights` are float32, by their names in SafeTensors."""
    return _BertPass(config, weights).embedding(tokens)


class _BertPass:
    """One model."""

    def __init__(self, config: BertConfig, weights: Mapping[str, np.ndarray]) -> None:
        self._config, self._weights = config, weights
        self._prefix = PREFIX if any(name.startswith(PREFIX) for name in weights) else ""

    def embedding(self, tokens: Sequence[int]) -> np.ndarray:
        words, places, kinds = (
            self._weight(f"embeddings.{name}_embeddings.weight") for name in ("word", "position", "token_type")
        )
        x = self._normed(words[list(tokens)] + places[: len(tokens)] + kinds[0], "embeddings.LayerNorm")
        for number in range(self._config.num_hidden_layers):
            layer = f"encoder.layer.{number}."
            x = self._normed(x + self._attended(x, layer), layer + "attention.output.LayerNorm")
            inside = _gelu(self._times(x, layer + "intermediate.dense"))
            x = self._normed(x + self._times(inside, layer + "output.dense"), layer + "output.LayerNorm")
        mean = x.mean(axis=0)
        normalised: np.ndarray = mean / np.linalg.norm(mean)
        return normalised

    def _attended(self, x: np.ndarray, layer: str) -> np.ndarray:
        heads = self._config.num_attention_heads
        queries, keys, values = (
            self._times(x, f"{layer}attention.self.{name}").reshape(len(x), heads, -1)
            for name in ("query", "key", "value")
        )
        scores = np.einsum("qhd,thd->hqt", queries, keys) / math.sqrt(queries.shape[-1])
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares = shares / shares.sum(axis=-1, keepdims=True)
        mixed = np.einsum("hqt,thd->qhd", shares, values).reshape(x.shape)
        return self._times(mixed, layer + "attention.output.dense")

    def _times(self, x: np.ndarray, name: str) -> np.ndarray:
        made: np.ndarray = x @ self._weight(name + ".weight").T + self._weight(name + ".bias")
        return made

    def _normed(self, x: np.ndarray, name: str) -> np.ndarray:
        centred = x - x.mean(axis=-1, keepdims=True)
        root = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + self._config.layer_norm_eps)
        normed: np.ndarray = centred / root * self._weight(name + ".weight") + self._weight(name + ".bias")
        return normed

    def _weight(self, name: str) -> np.ndarray:
        return self._weights[self._prefix + name]


def _gelu(x: np.ndarray) -> np.ndarray:
    """By the integral itself, which numpy has no name for."""
    activated: np.ndarray = 0.5 * x * (1 + _ERF(x / math.sqrt(2)))
    return activated
