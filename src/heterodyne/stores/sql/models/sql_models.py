"""Versions and artifacts in either database."""

from abc import ABC, abstractmethod
from typing import TypeVar

from heterodyne.domain.artifact import ArtifactLoad, Digest, ModelVersion, Signature, StoredArtifact
from heterodyne.domain.parity import ParityVerdict
from heterodyne.stores.sql.models import scripts
from heterodyne.stores.sql.script import Script

T = TypeVar("T")


class SqlModels(ABC):
    """Everything but how a script is run."""

    @abstractmethod
    async def _read(self, script: Script[T]) -> T:
        """Of one moment."""

    @abstractmethod
    async def _write(self, script: Script[T]) -> T:
        """In one transaction, which a script that raises leaves undone."""

    async def versions(self) -> tuple[ModelVersion, ...]:
        return await self._read(scripts.read_versions())

    async def artifacts(self) -> tuple[StoredArtifact, ...]:
        return await self._read(scripts.read_artifacts())

    async def add_version(self, version: ModelVersion) -> bool:
        return await self._write(scripts.add_version(version))

    async def add_artifact(self, stored: StoredArtifact) -> bool:
        return await self._write(scripts.add_artifact(stored))

    async def sign(self, digest: Digest, signature: Signature) -> None:
        await self._write(scripts.sign(digest, signature))

    async def judge(self, digest: Digest, verdict: ParityVerdict) -> None:
        await self._write(scripts.judge(digest, verdict))

    async def add_load(self, digest: Digest, load: ArtifactLoad) -> None:
        await self._write(scripts.add_load(digest, load))

    async def remove_artifact(self, digest: Digest) -> None:
        await self._write(scripts.remove_artifact(digest))

    async def remove_version(self, model: str, version: str) -> None:
        await self._write(scripts.remove_version(model, version))
