"""Puts together what people are told of versions, for the terminal and the console alike."""

from collections.abc import Iterable, Mapping, Sequence

from heterodyne.domain.artifact import Digest, ModelVersion, StoredArtifact
from heterodyne.physics.hardware import Accelerator
from heterodyne.registry.catalog.affinity import affinity_of
from heterodyne.registry.catalog.best_on_chip import best_on_chip
from heterodyne.registry.catalog.facts import ArtifactFacts, ParityState, VersionFacts, VersionSummary
from heterodyne.registry.signing import trusted_signers

PoolsOf = Mapping[Digest, Sequence[str]]  # by artifact, the pools that load it


def summaries(
    versions: Iterable[ModelVersion],
    artifacts: Iterable[StoredArtifact],
    *,
    trusted_keys: Sequence[str] = (),
    pools: PoolsOf | None = None,
) -> tuple[VersionSummary, ...]:
    """Of these versions, in their order."""
    of: dict[tuple[str, str], list[StoredArtifact]] = {}
    for stored in artifacts:
        of.setdefault((stored.artifact.model, stored.artifact.version), []).append(stored)
    return tuple(_summary(one, of.get((one.model, one.version), ()), trusted_keys, pools or {}) for one in versions)


def facts_of(
    version: ModelVersion,
    artifacts: Sequence[StoredArtifact],
    chips: Iterable[Accelerator],
    *,
    trusted_keys: Sequence[str] = (),
    pools: PoolsOf | None = None,
) -> VersionFacts:
    """Of one version and its artifacts; what is best is said of these chips."""
    affinity = affinity_of(version, artifacts)
    made = [one.artifact for one in artifacts]
    return VersionFacts(
        summary=_summary(version, artifacts, trusted_keys, pools or {}),
        source_sha256=version.source_sha256,
        card=version.facts,
        affinity=tuple(affinity),
        best=tuple(best_on_chip(made, chip, affinity) for chip in chips),
    )


def _summary(
    version: ModelVersion, artifacts: Sequence[StoredArtifact], trusted_keys: Sequence[str], pools: PoolsOf
) -> VersionSummary:
    found = tuple(_artifact(one, trusted_keys, pools) for one in artifacts)
    return VersionSummary(
        name=version.name,
        model=version.model,
        version=version.version,
        source=version.source,
        licence=version.licence,
        created_at=version.created_at,
        size_bytes=sum(one.size_bytes for one in found),
        artifacts=found,
    )


def _artifact(stored: StoredArtifact, trusted_keys: Sequence[str], pools: PoolsOf) -> ArtifactFacts:
    artifact, digest = stored.artifact, stored.artifact.digest
    parity, why = _parity(stored)
    return ArtifactFacts(
        format=artifact.format,
        precision=artifact.precision,
        hardware=artifact.hardware,
        digest=digest,
        size_bytes=artifact.size_bytes,
        files=len(artifact.files),
        builder=artifact.recipe.builder,
        made_at=stored.provenance.at,
        parity=parity,
        parity_why=why,
        signed_by=trusted_signers(stored, trusted_keys),
        signatures=len(stored.signatures),
        pools=tuple(pools.get(digest, ())),
        loads=stored.loads,
    )


def _parity(stored: StoredArtifact) -> tuple[ParityState, str]:
    """As every engine runs it: one that fails is enough."""
    if not stored.verdicts:
        return ParityState.UNJUDGED, ""
    failed = next((verdict for verdict in stored.verdicts if not verdict.has_passed), None)
    return (ParityState.PASSED, "") if failed is None else (ParityState.FAILED, failed.breaches[0])
