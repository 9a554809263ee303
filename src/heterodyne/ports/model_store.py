"""What the registry asks of a database: versions and artifacts, never their bytes."""

from typing import Protocol

from heterodyne.domain.artifact import ArtifactLoad, Digest, ModelVersion, Signature, StoredArtifact
from heterodyne.domain.parity import ParityVerdict


class ModelStore(Protocol):
    """Each call is one transaction."""

    async def versions(self) -> tuple[ModelVersion, ...]:
        """All, by model and in the order in which they came."""
        ...

    async def artifacts(self) -> tuple[StoredArtifact, ...]:
        """All, in the order in which they came."""
        ...

    async def add_version(self, version: ModelVersion) -> bool:
        """Whether it was added; False: there is one of that name."""
        ...

    async def add_artifact(self, stored: StoredArtifact) -> bool:
        """Whether it was added; False: it is there. Raises UnknownName where its version is not."""
        ...

    async def sign(self, digest: Digest, signature: Signature) -> None:
        """Add a signature, in the place of one by the same key. Raises UnknownName where there is no such artifact."""
        ...

    async def judge(self, digest: Digest, verdict: ParityVerdict) -> None:
        """Add a verdict, in the place of one of the same engine. Raises UnknownName where there is no such artifact."""
        ...

    async def add_load(self, digest: Digest, load: ArtifactLoad) -> None:
        """Add how long it took, in the place of one from the same tier; of an artifact that is gone, nothing."""
        ...

    async def remove_artifact(self, digest: Digest) -> None:
        """Forget it, its signatures and verdicts, where it is there."""
        ...

    async def remove_version(self, model: str, version: str) -> None:
        """Forget a version and all its artifacts."""
        ...
