"""A tiny model in the JAX engine's programs, beside what the reference pass says of the same one."""

import json
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from heterodyne.jax_engine.cache import new_cache
from heterodyne.jax_engine.programs import DecoderPrograms, TokenChunk, new_state, one_slots_rules
from heterodyne.jax_engine.weights import KINDS, weights_of
from heterodyne.registry.conversion.decoders import open_safetensors
from heterodyne.registry.reference.forward import log_probabilities
from heterodyne.registry.tensors.checkpoint_values import CheckpointValues
from tests.support.tiny_models import tiny_model

GREEDY = one_slots_rules(0, 1, 320, 0, 0)


def servable_model(folder: Path) -> Path:
    """A tiny model whose tokenizer is as whole as the library wants it."""
    path = tiny_model(folder) / "tokenizer.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    sides = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    document["added_tokens"] = [token | sides for token in document["added_tokens"]]
    document["decoder"] = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    path.write_text(json.dumps(document), encoding="utf-8")
    return folder


class TinyJaxModel:
    """Three slots and their cache, driven by hand."""

    def __init__(
        self, folder: Path, model_type: str = "llama", precision: str = "fp32", *, slots: int = 3, length: int = 64
    ) -> None:
        decoder = open_safetensors(tiny_model(folder, model_type))
        self.shape, self._values = decoder.shape, dict(CheckpointValues(decoder.checkpoint))
        self.programs = DecoderPrograms(self.shape, weights_of(self.shape, self._values, precision))
        self.slots, self._kind = slots, KINDS[precision]
        self.clear(length)

    def clear(self, length: int) -> None:
        """As it began; what was compiled stays."""
        self.cache = new_cache(self.shape, self.slots, length, self._kind)
        self.state = new_state(self.shape, self.slots)

    def read(
        self, slot: int, start: int, tokens: list[int], *, is_last: bool = True, room: int = 8, rules: Any = GREEDY
    ) -> Any:
        """A chunk, filled up to `room`."""
        filled = np.array(tokens + [0] * (room - len(tokens)), np.int32)
        where = np.array([slot, start, len(tokens)], np.int32)
        draws = bool(rules.temperature > 0)
        self.cache, self.state, out = self.programs.chunk(
            self.cache, self.state, TokenChunk(filled, where, rules), is_last=is_last, draws=draws, top=0
        )
        return int(out.tokens[0]) if is_last else None

    def steps(self, live: list[int], count: int, *, draws: bool = False, top: int = 0) -> Any:
        """What each slot says in `count` steps, made in one call."""
        mask = jnp.asarray([slot in live for slot in range(self.slots)])
        self.cache, self.state, out = self.programs.steps(
            self.cache, self.state, mask, steps=count, draws=draws, top=top
        )
        return out

    def reference(self, tokens: list[int]) -> np.ndarray:
        """One row of log-probabilities for each token."""
        return np.asarray(log_probabilities(self.shape, self._values, tokens))
