"""The reference pass, in numpy over SafeTensors or in JAX over its own checkpoint."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from heterodyne.parity.scored_token import ScoredToken, Token
from heterodyne.registry.conversion.decoders import open_safetensors
from heterodyne.registry.parity.scorer import TOP
from heterodyne.registry.reference.forward import log_probabilities
from heterodyne.registry.reference.jax_forward import jax_log_probabilities
from heterodyne.registry.tensors.checkpoint_values import CheckpointValues

Rows = Callable[[Sequence[int]], np.ndarray]  # of tokens, the log-probabilities of every next one


class ReferenceScorer:
    """Exact and slow. It scores whole texts and writes none, for without a cache every token would cost the text."""

    def __init__(self, name: str, rows: Rows) -> None:
        self.name = name
        self._rows = rows

    def scored(self, tokens: Sequence[int]) -> list[ScoredToken | None]:
        return [_scored(row, token) for row, token in zip(self._rows(tokens[:-1]), tokens[1:], strict=True)]


def reference_scorer(folder: Path) -> ReferenceScorer:
    """Of a folder in SafeTensors, in 32 bits: four bytes of memory for each parameter."""
    decoder = open_safetensors(folder)
    weights = dict(CheckpointValues(decoder.checkpoint))  # widened once, for many texts
    return ReferenceScorer("reference", lambda tokens: np.asarray(log_probabilities(decoder.shape, weights, tokens)))


def jax_scorer(folder: Path) -> ReferenceScorer:
    """Of a folder with an Orbax checkpoint, on whatever JAX finds here."""
    return ReferenceScorer("jax", jax_log_probabilities(folder))


def _scored(row: np.ndarray, token: int) -> ScoredToken:
    likeliest = np.argpartition(-row, TOP)[:TOP] if len(row) > TOP else np.arange(len(row))
    ordered = likeliest[np.argsort(-row[likeliest], kind="stable")]
    top: dict[Token, float] = {int(one): float(row[one]) for one in ordered}
    return ScoredToken(token, float(row[token]), top)
