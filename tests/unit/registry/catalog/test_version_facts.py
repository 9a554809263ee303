"""What people are told of a version: its artifacts, who loads and vouches for them, and what could be made of it."""

from pathlib import Path

from heterodyne.domain.artifact import ArtifactLoad, Digest, Signature, StoredArtifact, WeightTier
from heterodyne.domain.parity import ParityVerdict
from heterodyne.fleet.settings import PoolSettings
from heterodyne.physics.catalogue import accelerator
from heterodyne.registry.catalog.facts import ArtifactFacts, ParityState
from heterodyne.registry.catalog.pool_artifacts import pools_by_artifact
from heterodyne.registry.catalog.version_facts import facts_of, summaries
from tests.support.registered_models import (
    GGUF,
    SAFETENSORS,
    artifact_of,
    opened_registry,
    version_of,
)


def test_a_verdict_of_any_engine_that_failed_is_the_verdict() -> None:
    good = ParityVerdict(reference="r", run_by="vllm", at=1.0)
    bad = ParityVerdict(reference="r", run_by="llamacpp", at=1.0, breaches=("KL 0.3 is above 0.1", "top-1"))
    for verdicts, state, why in (
        ((), ParityState.UNJUDGED, ""),
        ((good,), ParityState.PASSED, ""),
        ((good, bad), ParityState.FAILED, "KL 0.3 is above 0.1"),
    ):
        [shown] = _artifacts(artifact_of("m", "v1", GGUF, "q8_0", verdicts=verdicts))
        assert (shown.parity, shown.parity_why) == (state, why)


def test_an_artifact_says_who_vouches_for_it_what_loads_it_and_how_long_that_took() -> None:
    load = ArtifactLoad(tier=WeightTier.DISK, size_bytes=10, took_s=2.0, at=1.0)
    stored = artifact_of("m", "v1", GGUF, "q8_0", loads=(load,), signatures=(_signature(),))
    [shown] = _artifacts(stored, pools={stored.artifact.digest: ("chat", "batch")})
    assert (shown.signatures, shown.signed_by) == (1, ()), "nobody trusts the key"
    assert (shown.pools, shown.loads) == (("chat", "batch"), (load,))
    assert (shown.digest, shown.size_bytes) == (stored.artifact.digest, stored.artifact.size_bytes)


def test_artifacts_are_with_their_own_version_and_sizes_add_up() -> None:
    versions = [version_of("m", "v1"), version_of("m", "v2"), version_of("n", "v1")]
    artifacts = [artifact_of("m", "v2", GGUF, "q4_0", gb=1.0), artifact_of("m", "v2", SAFETENSORS, "bf16", gb=4.0)]
    first, second, third = summaries(versions, artifacts)
    assert [one.name for one in (first, second, third)] == ["m@v1", "m@v2", "n@v1"]
    assert (len(first.artifacts), second.size_bytes, len(third.artifacts)) == (0, 5 * 10**9, 0)


def test_facts_have_the_table_of_hardware_and_what_is_best() -> None:
    stored = artifact_of("m", "v1", SAFETENSORS, "bf16", gb=16.0)
    facts = facts_of(version_of("m", "v1"), [stored], [accelerator("h100-sxm"), accelerator("cpu-x86")])
    assert (facts.best[0].chip, facts.best[0].best) == ("h100-sxm", "safetensors bf16")
    row = next(one for one in facts.affinity if (one.hardware, one.format) == ("cpu", GGUF))
    assert dict(zip(row.buildable, row.commands, strict=True))["q4_0"] == (
        "heterodyne models build m@v1 --format gguf --precision q4_0"
    )


async def test_pools_are_told_apart_by_what_their_engines_load(tmp_path: Path) -> None:
    async with opened_registry(tmp_path) as catalog:
        pools = {
            name: PoolSettings(model="chat", engine=engine, weights=weights)
            for name, engine, weights in (
                ("vllm-a", "vllm", "registry:llama-3.1-8b"),
                ("vllm-b", "vllm", "registry:llama-3.1-8b"),
                ("small", "llamacpp", "registry:llama-3.1-8b@v1#q8_0"),
                ("gone", "llamacpp", "registry:no-such-model"),
                ("strange", "openai", "registry:llama-3.1-8b"),
                ("elsewhere", "llamacpp", "file:/weights.gguf"),
            )
        }
        found = await pools_by_artifact(catalog, pools)
        assert sorted(found.values()) == [("small",), ("vllm-a", "vllm-b")]


def _artifacts(stored: StoredArtifact, pools: dict[Digest, tuple[str, ...]] | None = None) -> tuple[ArtifactFacts, ...]:
    [shown] = summaries([version_of("m", "v1")], [stored], trusted_keys=("0" * 64,), pools=pools)
    return shown.artifacts


def _signature() -> Signature:
    return Signature(key_id="k" * 16, signature="00", at=1.0)
