"""Builds in llama.cpp beside the reference: sound ones pass, damaged ones are stopped."""

from pathlib import Path

import pytest

from heterodyne.domain.artifact import (
    Artifact,
    ArtifactFile,
    ArtifactProvenance,
    Recipe,
    StoredArtifact,
    WeightFormat,
)
from heterodyne.registry.conversion.safetensors_gguf import safetensors_to_gguf
from heterodyne.registry.parity.judge import Bench, bench_for, judge
from tests.support.damaged_builds import DAMAGES, damaged
from tests.support.tiny_models import tiny_model


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return bench_for(tiny_model(tmp_path_factory.mktemp("parity") / "model"))


def built(folder: Path, target: Path, precision: str) -> StoredArtifact:
    """As a build of the registry would be."""
    name = f"tiny.{precision}.gguf"
    safetensors_to_gguf(folder, target / name, precision)
    artifact = Artifact(
        model="tiny",
        version="v1",
        format=WeightFormat.GGUF,
        precision=precision,
        recipe=Recipe(builder="safetensors-to-gguf"),
        files=(ArtifactFile(name, (target / name).stat().st_size, "0" * 64),),
    )
    return StoredArtifact(artifact=artifact, provenance=ArtifactProvenance(at=0.0))


@pytest.mark.parametrize("precision", ["fp32", "fp16", "q8_0"])
def test_a_sound_build_passes(bench: Bench, precision: str, tmp_path: Path) -> None:
    verdict = judge(bench, built(bench.folder, tmp_path, precision), tmp_path)
    assert verdict.has_passed, verdict
    assert verdict.run_by == "llamacpp"
    measures = verdict.measures
    assert measures is not None
    assert measures.positions > 500
    assert 0 < measures.kl_nats < measures.kl_worst_nats
    assert measures.first_split is None or measures.first_split_gap_nats is not None


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_build_is_stopped(bench: Bench, damage: str, tmp_path: Path) -> None:
    folder = damaged(bench.folder, tmp_path / "damaged", DAMAGES[damage])
    verdict = judge(bench, built(folder, tmp_path, "q8_0"), tmp_path)
    assert not verdict.has_passed, verdict
    if damage == "a swapped tokenizer":  # which no engine had to be started to see
        assert verdict.measures is None
        assert verdict.breaches == ("number 258 of the tokenizer's tokens is 'the', expected 'th'",)
    else:
        assert verdict.measures is not None
