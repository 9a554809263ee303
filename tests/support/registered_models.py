"""A registry with a few versions in it, without a byte of weights."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from heterodyne.domain.artifact import (
    IMPORTED,
    Artifact,
    ArtifactFile,
    ArtifactLoad,
    ArtifactProvenance,
    ModelVersion,
    Recipe,
    StoredArtifact,
    WeightFormat,
    WeightTier,
)
from heterodyne.domain.parity import ParityVerdict
from heterodyne.ports.model_store import ModelStore
from heterodyne.registry.catalog.catalog import Catalog
from tests.support.catalogs import opened_catalog

SAFETENSORS, GGUF, TENSORRT_LLM = WeightFormat.SAFETENSORS, WeightFormat.GGUF, WeightFormat.TENSORRT_LLM
BEGAN_AT = 1_793_000_000.0
DAY_S = 86_400.0


def version_of(model: str, version: str, created_at: float = BEGAN_AT) -> ModelVersion:
    return ModelVersion(
        model=model,
        version=version,
        source=f"hf:example/{model}",
        source_sha256="ab" * 32,
        created_at=created_at,
        licence="Apache-2.0",
        facts={"family": "llama", "parameters": "8.03e9"},
    )


def artifact_of(
    model: str,
    version: str,
    format: WeightFormat,
    precision: str,
    *,
    gb: float = 1.0,
    builder: str = IMPORTED,
    hardware: str = "any",
    **more: Any,
) -> StoredArtifact:
    artifact = Artifact(
        model=model,
        version=version,
        format=format,
        precision=precision,
        hardware=hardware,
        recipe=Recipe(builder=builder),
        files=(ArtifactFile("weights", int(gb * 10**9), "0" * 64),),
    )
    return StoredArtifact(artifact=artifact, provenance=ArtifactProvenance(at=BEGAN_AT), **more)


async def fill_registry(store: ModelStore) -> None:
    """Two versions of one model, of which the second has a build that failed, and one of another."""
    passed = ParityVerdict(reference="r", run_by="llamacpp", at=BEGAN_AT)
    failed = ParityVerdict(reference="r", run_by="llamacpp", at=BEGAN_AT, breaches=("KL 0.31 nats is above 0.1",))
    for version in (
        version_of("llama-3.1-8b", "v1"),
        version_of("llama-3.1-8b", "v2", BEGAN_AT + DAY_S),
        version_of("smollm2-135m", "v1", BEGAN_AT + 2 * DAY_S),
    ):
        await store.add_version(version)
    loads = (
        ArtifactLoad(tier=WeightTier.OBJECT_STORE, size_bytes=8 * 10**9, took_s=21.0, at=BEGAN_AT),
        ArtifactLoad(tier=WeightTier.DISK, size_bytes=8 * 10**9, took_s=3.4, at=BEGAN_AT),
    )
    for version in ("v1", "v2"):
        await store.add_artifact(artifact_of("llama-3.1-8b", version, SAFETENSORS, "bf16", gb=16.1))
        fast = artifact_of("llama-3.1-8b", version, GGUF, "q8_0", gb=8.5, builder="safetensors-to-gguf")
        await store.add_artifact(fast)
        await store.judge(fast.artifact.digest, passed)
        for load in loads:
            await store.add_load(fast.artifact.digest, load)
    wrong = artifact_of("llama-3.1-8b", "v2", GGUF, "q4_0", gb=4.6, builder="safetensors-to-gguf")
    await store.add_artifact(wrong)
    await store.judge(wrong.artifact.digest, failed)
    compiled = artifact_of(
        "llama-3.1-8b", "v2", TENSORRT_LLM, "fp8", gb=8.1, builder="tensorrt-llm", hardware="h100-sxm"
    )
    await store.add_artifact(compiled)
    await store.add_artifact(artifact_of("smollm2-135m", "v1", GGUF, "q8_0", gb=0.14))


@asynccontextmanager
async def opened_registry(folder: Path) -> AsyncIterator[Catalog]:
    """With those versions."""
    async with opened_catalog(folder) as catalog:
        await fill_registry(catalog.store)
        yield catalog
