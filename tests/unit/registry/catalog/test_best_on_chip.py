"""What is best where, and why: the fewest bytes that a chip can read and compute with."""

import pytest

from heterodyne.domain.artifact import (
    Artifact,
    ArtifactFile,
    ArtifactProvenance,
    ModelVersion,
    Recipe,
    StoredArtifact,
    WeightFormat,
)
from heterodyne.physics.catalogue import accelerator
from heterodyne.registry.catalog.affinity import affinity_of
from heterodyne.registry.catalog.best_on_chip import best_on_chip
from heterodyne.registry.catalog.facts import BestOnChip

GB = 10**9
VERSION = ModelVersion(model="m", version="v1", source="file:m", source_sha256="0" * 64, created_at=0.0)
SAFETENSORS, GGUF = WeightFormat.SAFETENSORS, WeightFormat.GGUF


def made(format: WeightFormat, precision: str, gb: float, hardware: str = "any") -> Artifact:
    return Artifact(
        model="m",
        version="v1",
        format=format,
        precision=precision,
        hardware=hardware,
        recipe=Recipe(builder="x"),
        files=(ArtifactFile("weights", int(gb * GB), "0" * 64),),
    )


def best(chip: str, *artifacts: Artifact) -> BestOnChip:
    stored = [StoredArtifact(artifact=one, provenance=ArtifactProvenance(at=0.0)) for one in artifacts]
    return best_on_chip(artifacts, accelerator(chip), affinity_of(VERSION, stored))


FULL, EIGHT, INT8, FOUR = (
    made(SAFETENSORS, "bf16", 16.0),
    made(SAFETENSORS, "fp8", 8.0),
    made(SAFETENSORS, "int8", 8.1),
    made(GGUF, "q4_k_m", 4.8),
)


def test_the_fewest_bytes_are_read_soonest() -> None:
    found = best("h100-sxm", FULL, EIGHT)
    assert (found.best, found.token_ms) == ("safetensors fp8", pytest.approx(8.0 / 3350 * 1000))
    assert found.why.startswith("8.00 GB a token at 3.35 TB/s")


def test_what_could_be_built_is_named_where_it_would_be_better() -> None:
    assert "tensorrt-llm int8 could be built, and take 50% of that" in best("a100-80gb", FULL).why
    assert "could be built" not in best("mi250", FULL).why, "it has no units for eight bits"


def test_a_chip_without_units_for_it_gets_another() -> None:
    assert best("a100-80gb", FULL, EIGHT).best == "safetensors bf16"
    assert best("a100-80gb", FULL, EIGHT, INT8).best == "safetensors int8"


def test_what_is_compiled_for_a_chip_is_for_no_other() -> None:
    engine = made(WeightFormat.TENSORRT_LLM, "fp8", 7.9, hardware="h100-sxm")
    assert best("h100-sxm", EIGHT, engine).best == "tensorrt-llm fp8"
    assert best("h200-sxm", EIGHT, engine).best == "safetensors fp8"


def test_a_processor_takes_what_llama_cpp_widens() -> None:
    assert best("cpu-x86", FULL, FOUR).best == "gguf q4_k_m"


def test_a_chip_that_none_runs_on_is_told_why() -> None:
    found = best("tpu-v5e", FOUR, made(SAFETENSORS, "bf16", 140.0))
    assert found.best is None
    assert found.why == "gguf q4_k_m has no engine there (vllm, jetstream); safetensors bf16 does not fit in 17 GB"
