"""What projections are given when a model reads some texts: measured in the reference pass."""

from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np

from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.registry.conversion.decoders import CheckpointDecoder
from heterodyne.registry.reference.forward import log_probabilities
from heterodyne.registry.reference.texts import CALIBRATION_TEXTS
from heterodyne.registry.tensors.checkpoint_values import CheckpointValues
from heterodyne.registry.tokenizers.text_tokens import tokens_of_texts

TOKENS_OF_EACH = 64  # so that a pass over all texts at once holds a few hundred


def input_mean_squares(decoder: CheckpointDecoder) -> dict[str, np.ndarray]:
    """By projection, one number for each column; raises what the reference pass does not compute."""
    return _measured(decoder, lambda x: np.square(x, dtype=np.float64).mean(axis=0))


def input_peaks(decoder: CheckpointDecoder) -> dict[str, np.ndarray]:
    """By projection, the largest number that it is given, without its sign."""
    return _measured(decoder, lambda x: np.abs(x).max())


def _measured(decoder: CheckpointDecoder, measure: Callable[[Any], np.ndarray]) -> dict[str, np.ndarray]:
    checkpoint, shape = decoder.checkpoint, decoder.shape
    if shape.rope_scaling is not None and shape.rope_scaling.kind == "yarn":
        raise WeightsUnavailable(
            f"{checkpoint.folder}: positions are stretched by yarn, which the reference pass does not compute: such a "
            "model is not calibrated"
        )
    texts = tokens_of_texts(checkpoint.folder, shape.vocabulary, CALIBRATION_TEXTS, TOKENS_OF_EACH)
    tokens = list(chain.from_iterable(texts))[: shape.context_tokens]
    if not tokens:
        raise WeightsUnavailable(f"{checkpoint.folder}: its tokenizer has no tokens for the calibration texts")
    found: dict[str, np.ndarray] = {}

    def on_input(name: str, x: Any) -> Any:
        found[name] = measure(x)
        return x

    log_probabilities(shape, CheckpointValues(checkpoint), tokens, on_input=on_input)
    return found
