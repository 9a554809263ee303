"""vLLM loads weights of eight bits as they are built here, and says of texts what the reference says."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from heterodyne.registry.building.builder import BuildOrder
from heterodyne.registry.building.compressed_tensors_builder import COMPRESSED_TENSORS
from heterodyne.registry.conversion.decoders import open_safetensors
from heterodyne.registry.reference.forward import log_probabilities
from heterodyne.registry.reference.texts import TEXTS
from heterodyne.registry.tensors.checkpoint_values import CheckpointValues
from heterodyne.registry.tokenizers.text_tokens import tokens_of_texts
from tests.engines.running_vllm import MODEL, RunningVllm

pytestmark = pytest.mark.timeout(600)
# In log-probabilities of the texts' own tokens, on average: vLLM cuts activations to eight bits too.
SAME = 0.15


@pytest.mark.parametrize("calibration", ["none", "texts"])
def test_vllm_computes_eight_bits_as_the_reference(calibration: str, folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "int8"
    order = BuildOrder(
        source=folder,
        target=target,
        model=MODEL,
        precision="int8",
        hardware="any",
        settings={"calibration": calibration},
    )
    COMPRESSED_TENSORS.run(order, lambda done, of: None)
    decoder = open_safetensors(target)
    texts = tokens_of_texts(target, decoder.shape.vocabulary, TEXTS[:4], 48)
    engine = RunningVllm(target)
    try:
        engine.wait_ready()
        found = np.concatenate([said(engine, tokens) for tokens in texts])
    finally:
        engine.kill()
    weights = CheckpointValues(decoder.checkpoint)
    expected = np.concatenate(
        [
            log_probabilities(decoder.shape, weights, tokens[:-1])[np.arange(len(tokens) - 1), tokens[1:]]
            for tokens in texts
        ]
    )
    print(f"calibration {calibration}: {np.abs(found - expected).mean():.4f} apart of {len(found)} tokens")
    assert np.abs(found - expected).mean() < SAME


def said(engine: RunningVllm, tokens: list[int]) -> np.ndarray:
    """Of every token but the first, its log-probability."""
    body = {"model": MODEL, "prompt": tokens, "max_tokens": 1, "temperature": 0, "prompt_logprobs": 1}
    status, answer = engine.get("/v1/completions", msgspec.json.encode(body))
    assert status == 200, answer
    places = msgspec.json.decode(answer)["choices"][0]["prompt_logprobs"]
    return np.array([place[str(token)]["logprob"] for place, token in zip(places[1:], tokens[1:], strict=True)])
