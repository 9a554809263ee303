"""What the registry has: looked up by the names that people use."""

import asyncio
import os
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from difflib import get_close_matches
from pathlib import Path

from heterodyne.domain.artifact import (
    ANY_HARDWARE,
    IMPORTED,
    Artifact,
    ArtifactFile,
    ArtifactLoad,
    ModelVersion,
    StoredArtifact,
    WeightFormat,
    WeightTier,
)
from heterodyne.domain.errors import UnknownName
from heterodyne.ports.blobs import BlobStore, OnBytes
from heterodyne.ports.model_store import ModelStore
from heterodyne.registry.building.catalogue import BUILDERS
from heterodyne.registry.catalog.reference import VersionReference, read_reference
from heterodyne.registry.loading.missing_files import missing_files
from heterodyne.registry.loading.tiers import NO_TIERS, Tiers

OTHER_MODELS = tuple(builder.name for builder in BUILDERS if builder.is_other_model)
# Of what makes SafeTensors, those that others are built from.
CANONICAL = (IMPORTED, *(builder.name for builder in BUILDERS if builder.is_canonical))


class Catalog:
    """The database of versions, the store of their bytes, and the folder where both are at work."""

    def __init__(
        self,
        store: ModelStore,
        blobs: BlobStore,
        folder: Path,
        *,
        tiers: Tiers = NO_TIERS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.store = store
        self.blobs = blobs
        self.folder = folder
        self.tiers = tiers
        self._clock = clock

    async def versions(self, model: str | None = None) -> tuple[ModelVersion, ...]:
        """Of one model or of all, the oldest of each first."""
        return tuple(one for one in await self.store.versions() if model in (None, one.model))

    async def version(self, reference: str | VersionReference) -> ModelVersion:
        """The version that is named; raises UnknownName with the nearest name."""
        wanted = read_reference(reference) if isinstance(reference, str) else reference
        every = await self.store.versions()
        of_model = [one for one in every if one.model == wanted.model]
        if not of_model:
            near = get_close_matches(wanted.model, {one.model for one in every}, n=1, cutoff=0.5)
            hint = f'did you mean "{near[0]}"?' if near else "`heterodyne models list --registry` shows those there are"
            raise UnknownName(f'the registry has no model "{wanted.model}"; {hint}')
        if wanted.version is None:
            return max(of_model, key=lambda one: one.created_at)
        found = next((one for one in of_model if one.version == wanted.version), None)
        if found is None:
            listed = ", ".join(one.version for one in of_model)
            raise UnknownName(f'the registry has no version "{wanted.version}" of {wanted.model}; it has {listed}')
        return found

    async def artifacts(self, version: ModelVersion) -> tuple[StoredArtifact, ...]:
        """Of one version."""
        return tuple(
            one
            for one in await self.store.artifacts()
            if (one.artifact.model, one.artifact.version) == (version.model, version.version)
        )

    async def artifact(
        self, version: ModelVersion, format: WeightFormat, precision: str | None, hardware: str = ANY_HARDWARE
    ) -> StoredArtifact:
        """One of a version, the latest where there are several; raises UnknownName with the command that makes it."""
        found = [
            one
            for one in await self.artifacts(version)
            if one.artifact.format is format
            and precision in (None, one.artifact.precision)
            and one.artifact.hardware in (ANY_HARDWARE, hardware)
            and one.artifact.recipe.builder not in OTHER_MODELS
        ]
        if not found:
            wanted = f" --precision {precision}" if precision is not None else ""
            on = "" if hardware == ANY_HARDWARE else f" --hardware {hardware}"
            raise UnknownName(
                f"the registry has no {format}{f' {precision}' if precision else ''} of {version.name}; "
                f"make it with `heterodyne models build {version.name} --format {format}{wanted}{on}`"
            )
        return found[-1]

    async def by_digest(self, version: ModelVersion, digest: str) -> StoredArtifact:
        """The one whose digest begins so."""
        found = [one for one in await self.artifacts(version) if one.artifact.digest.startswith(digest)]
        if len(found) != 1:
            raise UnknownName(f"{version.name} has {len(found)} artifacts whose digest begins with {digest}")
        return found[0]

    async def canonical(self, version: ModelVersion) -> StoredArtifact:
        """The SafeTensors that everything else is built from: as imported, else as made of what was."""
        found = [one for one in await self.artifacts(version) if one.artifact.format is WeightFormat.SAFETENSORS]
        plain = [one for one in found if one.artifact.recipe.builder in CANONICAL]
        if not plain:
            raise UnknownName(
                f"{version.name} has no SafeTensors to build from; import it again, or make them with "
                f"`heterodyne models build {version.name} --format safetensors`"
            )
        return plain[0]

    async def local(
        self, stored: StoredArtifact, on_bytes: OnBytes = lambda _: None, *, pinned: Collection[str] = ()
    ) -> Path:
        """The artifact's files in a folder of this machine, brought there if they are not."""
        artifact = stored.artifact
        folder = self.folder / "served" / artifact.digest
        missing = missing_files(artifact, folder)
        if missing:
            began_s = time.monotonic()
            far = await asyncio.to_thread(self._bring, missing, folder, on_bytes, {artifact.digest, *pinned})
            await self._note(artifact, WeightTier.OBJECT_STORE, far, time.monotonic() - began_s)
        await asyncio.to_thread(os.utime, folder)  # what was used least lately goes first
        return folder

    async def served(
        self, stored: StoredArtifact, on_bytes: OnBytes = lambda _: None, *, pinned: Collection[str] = ()
    ) -> Path:
        """The same where engines are to load it from: in memory, where there is a tier and room for it."""
        artifact, ram = stored.artifact, self.tiers.ram
        if ram is None:
            return await self.local(stored, on_bytes, pinned=pinned)
        held = await asyncio.to_thread(ram.try_held, artifact)
        if held is not None:
            return held
        source = await self.local(stored, on_bytes, pinned=pinned)
        began_s = time.monotonic()
        held = await asyncio.to_thread(ram.try_hold, artifact, source, pinned, on_bytes)
        if held is None:
            return source
        await self._note(artifact, WeightTier.DISK, artifact.files, time.monotonic() - began_s)
        return held

    def _bring(
        self, files: Sequence[ArtifactFile], folder: Path, on_bytes: OnBytes, pinned: Collection[str]
    ) -> Sequence[ArtifactFile]:
        """To the folder; returns those that came from afar."""
        disk = self.tiers.disk
        far = [] if disk is None else disk.lacking(files)
        with nullcontext() if disk is None else disk.room_for(sum(file.size_bytes for file in far), pinned):
            for file in files:
                self.blobs.fetch(file, folder / file.path, on_bytes)
        return far

    async def _note(self, artifact: Artifact, tier: WeightTier, files: Sequence[ArtifactFile], took_s: float) -> None:
        size_bytes = sum(file.size_bytes for file in files)
        if size_bytes == artifact.size_bytes:  # a part of it says nothing of the whole
            load = ArtifactLoad(tier=tier, size_bytes=size_bytes, took_s=took_s, at=self._clock())
            await self.store.add_load(artifact.digest, load)
