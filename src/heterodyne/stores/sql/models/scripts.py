"""The statements about versions and artifacts, for either database."""

import msgspec

from heterodyne.domain.artifact import (
    Artifact,
    ArtifactLoad,
    ArtifactProvenance,
    Digest,
    ModelVersion,
    Signature,
    StoredArtifact,
)
from heterodyne.domain.errors import UnknownName
from heterodyne.domain.parity import ParityVerdict
from heterodyne.stores.sql.script import Script, Statement

ABOUT_ARTIFACTS = ("artifact_signatures", "artifact_verdicts", "artifact_loads")


class _Document(msgspec.Struct, frozen=True):
    """What is stored of an artifact, its signatures and verdicts aside."""

    artifact: Artifact
    provenance: ArtifactProvenance


def read_versions() -> Script[tuple[ModelVersion, ...]]:
    rows = yield Statement("SELECT document FROM model_versions ORDER BY model, created_at, version")
    return tuple(msgspec.json.decode(document, type=ModelVersion) for (document,) in rows)


def read_artifacts() -> Script[tuple[StoredArtifact, ...]]:
    signatures: dict[str, list[Signature]] = {}
    for digest, document in (yield Statement("SELECT digest, document FROM artifact_signatures ORDER BY key_id")):
        signatures.setdefault(digest, []).append(msgspec.json.decode(document, type=Signature))
    verdicts: dict[str, list[ParityVerdict]] = {}
    for digest, document in (yield Statement("SELECT digest, document FROM artifact_verdicts ORDER BY run_by")):
        verdicts.setdefault(digest, []).append(msgspec.json.decode(document, type=ParityVerdict))
    loads: dict[str, list[ArtifactLoad]] = {}
    for digest, document in (yield Statement("SELECT digest, document FROM artifact_loads ORDER BY tier")):
        loads.setdefault(digest, []).append(msgspec.json.decode(document, type=ArtifactLoad))
    rows = yield Statement("SELECT digest, document FROM artifacts ORDER BY created_at, digest")
    found = []
    for digest, document in rows:
        one = msgspec.json.decode(document, type=_Document)
        found.append(
            StoredArtifact(
                artifact=one.artifact,
                provenance=one.provenance,
                signatures=tuple(signatures.get(digest, ())),
                verdicts=tuple(verdicts.get(digest, ())),
                loads=tuple(loads.get(digest, ())),
            )
        )
    return tuple(found)


def add_version(version: ModelVersion) -> Script[bool]:
    added = yield Statement(
        "INSERT INTO model_versions (model, version, created_at, document) VALUES ($1, $2, $3, $4) "
        "ON CONFLICT DO NOTHING RETURNING model",
        (version.model, version.version, version.created_at, msgspec.json.encode(version).decode()),
    )
    return bool(added)


def add_artifact(stored: StoredArtifact) -> Script[bool]:
    artifact = stored.artifact
    found = yield Statement(
        "SELECT 1 FROM model_versions WHERE model = $1 AND version = $2", (artifact.model, artifact.version)
    )
    if not found:
        raise UnknownName(f"the registry has no {artifact.model}@{artifact.version}")
    document = msgspec.json.encode(_Document(artifact, stored.provenance)).decode()
    added = yield Statement(
        "INSERT INTO artifacts (digest, model, version, created_at, document) VALUES ($1, $2, $3, $4, $5) "
        "ON CONFLICT DO NOTHING RETURNING digest",
        (artifact.digest, artifact.model, artifact.version, stored.provenance.at, document),
    )
    return bool(added)


def sign(digest: Digest, signature: Signature) -> Script[None]:
    yield from _expect(digest)
    yield Statement(
        "INSERT INTO artifact_signatures (digest, key_id, document) VALUES ($1, $2, $3) "
        "ON CONFLICT (digest, key_id) DO UPDATE SET document = excluded.document",
        (digest, signature.key_id, msgspec.json.encode(signature).decode()),
    )


def judge(digest: Digest, verdict: ParityVerdict) -> Script[None]:
    yield from _expect(digest)
    yield Statement(
        "INSERT INTO artifact_verdicts (digest, run_by, document) VALUES ($1, $2, $3) "
        "ON CONFLICT (digest, run_by) DO UPDATE SET document = excluded.document",
        (digest, verdict.run_by, msgspec.json.encode(verdict).decode()),
    )


def add_load(digest: Digest, load: ArtifactLoad) -> Script[None]:
    if (yield Statement("SELECT 1 FROM artifacts WHERE digest = $1", (digest,))):
        yield Statement(
            "INSERT INTO artifact_loads (digest, tier, document) VALUES ($1, $2, $3) "
            "ON CONFLICT (digest, tier) DO UPDATE SET document = excluded.document",
            (digest, str(load.tier), msgspec.json.encode(load).decode()),
        )


def remove_artifact(digest: Digest) -> Script[None]:
    for table in ABOUT_ARTIFACTS:
        yield Statement(f"DELETE FROM {table} WHERE digest = $1", (digest,))  # noqa: S608  # ours
    yield Statement("DELETE FROM artifacts WHERE digest = $1", (digest,))


def remove_version(model: str, version: str) -> Script[None]:
    of = "SELECT digest FROM artifacts WHERE model = $1 AND version = $2"
    for table in ABOUT_ARTIFACTS:
        yield Statement(f"DELETE FROM {table} WHERE digest IN ({of})", (model, version))  # noqa: S608  # ours
    yield Statement("DELETE FROM artifacts WHERE model = $1 AND version = $2", (model, version))
    yield Statement("DELETE FROM model_versions WHERE model = $1 AND version = $2", (model, version))


def _expect(digest: Digest) -> Script[None]:
    if not (yield Statement("SELECT 1 FROM artifacts WHERE digest = $1", (digest,))):
        raise UnknownName(f"the registry has no artifact {digest}")
