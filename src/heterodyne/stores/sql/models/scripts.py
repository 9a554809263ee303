"""The statements about versions and artifacts, for either database."""

import msgspec

from heterodyne.domain.artifact import Artifact, ArtifactProvenance, Digest, ModelVersion, Signature, StoredArtifact
from heterodyne.domain.errors import UnknownName
from heterodyne.stores.sql.script import Script, Statement


class _Document(msgspec.Struct, frozen=True):
    """What is stored of an artifact, its signatures aside."""

    artifact: Artifact
    provenance: ArtifactProvenance


def read_versions() -> Script[tuple[ModelVersion, ...]]:
    rows = yield Statement("SELECT document FROM model_versions ORDER BY model, created_at, version")
    return tuple(msgspec.json.decode(document, type=ModelVersion) for (document,) in rows)


def read_artifacts() -> Script[tuple[StoredArtifact, ...]]:
    signatures: dict[str, list[Signature]] = {}
    for digest, document in (yield Statement("SELECT digest, document FROM artifact_signatures ORDER BY key_id")):
        signatures.setdefault(digest, []).append(msgspec.json.decode(document, type=Signature))
    rows = yield Statement("SELECT digest, document FROM artifacts ORDER BY created_at, digest")
    found = []
    for digest, document in rows:
        one = msgspec.json.decode(document, type=_Document)
        signed = tuple(signatures.get(digest, ()))
        found.append(StoredArtifact(artifact=one.artifact, provenance=one.provenance, signatures=signed))
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
    if not (yield Statement("SELECT 1 FROM artifacts WHERE digest = $1", (digest,))):
        raise UnknownName(f"the registry has no artifact {digest}")
    yield Statement(
        "INSERT INTO artifact_signatures (digest, key_id, document) VALUES ($1, $2, $3) "
        "ON CONFLICT (digest, key_id) DO UPDATE SET document = excluded.document",
        (digest, signature.key_id, msgspec.json.encode(signature).decode()),
    )


def remove_artifact(digest: Digest) -> Script[None]:
    yield Statement("DELETE FROM artifact_signatures WHERE digest = $1", (digest,))
    yield Statement("DELETE FROM artifacts WHERE digest = $1", (digest,))


def remove_version(model: str, version: str) -> Script[None]:
    of = "SELECT digest FROM artifacts WHERE model = $1 AND version = $2"
    yield Statement(f"DELETE FROM artifact_signatures WHERE digest IN ({of})", (model, version))  # noqa: S608  # ours
    yield Statement("DELETE FROM artifacts WHERE model = $1 AND version = $2", (model, version))
    yield Statement("DELETE FROM model_versions WHERE model = $1 AND version = $2", (model, version))
