"""Whether the bytes of artifacts are what was written down of them, and who vouches for them."""

import asyncio
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from heterodyne.domain.artifact import StoredArtifact
from heterodyne.domain.errors import OperatorError
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.catalog.facts import Verified
from heterodyne.registry.files import sha256_of
from heterodyne.registry.signing import trusted_signers


async def verify(
    catalog: Catalog, artifacts: Iterable[StoredArtifact], trusted_keys: Sequence[str] = ()
) -> list[Verified]:
    """Reads every byte."""
    return [await asyncio.to_thread(_verified, catalog, one, trusted_keys) for one in artifacts]


def _verified(catalog: Catalog, stored: StoredArtifact, trusted_keys: Sequence[str]) -> Verified:
    artifact, problem = stored.artifact, None
    (catalog.folder / "verifying").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=catalog.folder / "verifying") as folder:
        for file in artifact.files:
            path = Path(folder) / "blob"
            try:
                catalog.blobs.fetch(file, path, lambda _: None)
                if (actual := sha256_of(path)) != file.sha256:
                    problem = f"{file.path}: its SHA-256 is {actual}, expected {file.sha256}"
            except OperatorError as error:
                problem = f"{file.path}: {error.message}"
            if problem is not None:
                break
    return Verified(
        name=artifact.name,
        digest=artifact.digest,
        problem=problem,
        signed_by=trusted_signers(stored, trusted_keys),
    )
