"""A model of every family answers in llama.cpp as the reference says, and is itself again after the way back."""

from pathlib import Path

import numpy as np
import pytest

from heterodyne.registry.conversion.gguf_safetensors import gguf_to_safetensors
from heterodyne.registry.conversion.safetensors_gguf import safetensors_to_gguf
from heterodyne.registry.families.catalogue import BY_MODEL_TYPE, family_of_config
from heterodyne.registry.reference.forward import log_probabilities
from heterodyne.registry.tensors.checkpoint import open_checkpoint
from tests.support.llamacpp import llamacpp
from tests.support.tiny_models import tiny_model

TOKENS = [5, 17, 40, 3, 99, 63, 12, 200, 8, 31, 77, 150, 9, 20, 41]  # longer than the windows
SAME = 0.02  # of log-probabilities: llama.cpp has keys, values and some of its products in 16 bits
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
VARIANTS: dict[str, tuple[str, dict[str, object]]] = {name: (name, {}) for name in BY_MODEL_TYPE}
VARIANTS["llama, stretched"] = "llama", {"rope_scaling": LLAMA3 | {"original_max_position_embeddings": 8192}}
VARIANTS["llama, linear"] = "llama", {"rope_scaling": {"rope_type": "linear", "factor": 2.0}}
VARIANTS["llama, tied"] = "llama", {"tie_word_embeddings": True}


@pytest.mark.parametrize(("model_type", "members"), VARIANTS.values(), ids=VARIANTS)
def test_llamacpp_answers_as_the_reference(model_type: str, members: dict[str, object], tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "model", model_type, **members)
    checkpoint = open_checkpoint(folder)
    _, shape = family_of_config("config.json", checkpoint.config)
    weights = {name: checkpoint.values(name) for name in checkpoint.names}
    expected = log_probabilities(shape, weights, TOKENS)[-1]
    safetensors_to_gguf(folder, tmp_path / "model.gguf", "fp32")
    with llamacpp(tmp_path / "model.gguf") as engine:
        found = engine.next_token(TOKENS)
    likeliest = [int(token) for token in np.argsort(-expected)[:3]]
    assert set(likeliest) <= found.keys()
    assert max(abs(found[token] - expected[token]) for token in found) < SAME


@pytest.mark.parametrize(("model_type", "members"), VARIANTS.values(), ids=VARIANTS)
def test_the_way_back_gives_the_same_model(model_type: str, members: dict[str, object], tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "model", model_type, **members)
    safetensors_to_gguf(folder, tmp_path / "model.gguf", "fp32")
    gguf_to_safetensors(tmp_path / "model.gguf", tmp_path / "back", "fp32")
    there, back = open_checkpoint(folder), open_checkpoint(tmp_path / "back")
    assert set(there.names) == set(back.names)
    for name in there.names:
        # Norms are shifted by one and back, which costs the last bit.
        np.testing.assert_allclose(there.values(name), back.values(name), atol=1e-6)
    one, other = (family_of_config("config.json", opened.config)[1] for opened in (there, back))
    if model_type not in ("mistral",):  # of which a GGUF knows nothing but that it is a Llama
        assert other.model_type == one.model_type
    assert other.lengths() == one.lengths()
    assert (other.rope_theta, other.rope_scaling) == (one.rope_theta, one.rope_scaling)


@pytest.mark.parametrize("model_type", ["llama", "qwen2", "gemma"])
def test_a_text_is_cut_into_the_tokens_of_its_tokenizer(model_type: str, tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "model", model_type)
    safetensors_to_gguf(folder, tmp_path / "model.gguf", "q8_0")
    with llamacpp(tmp_path / "model.gguf") as engine:
        if model_type == "gemma":  # pieces: "▁ab", then "cd" alone, for "abcd" would need "ab" before
            assert engine.tokens("ab") == [272]
            assert engine.tokens("é") == [259, 198, 172]  # a space, and bytes of what no piece has
        else:
            assert engine.tokens("the") == [259]
            assert engine.tokens("th") == [258]
        text = "ab cd the"
        assert engine.ask("/detokenize", tokens=engine.tokens(text))["content"].strip() == text
