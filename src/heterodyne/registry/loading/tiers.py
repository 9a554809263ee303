"""Where the artifacts that a machine uses lie, besides the place where all machines find them."""

from pathlib import Path

from msgspec import Struct

from heterodyne.domain.artifact import Artifact, ArtifactFile
from heterodyne.registry.loading.disk_tier import DiskTier
from heterodyne.registry.loading.ram_tier import RamTier


class Tiers(Struct, frozen=True, kw_only=True):
    """The fastest first."""

    ram: RamTier | None = None
    disk: DiskTier | None = None  # None: the disk is where all is kept


NO_TIERS = Tiers()


def missing_files(artifact: Artifact, folder: Path) -> list[ArtifactFile]:
    """Those that are not in the folder, or were cut."""
    return [file for file in artifact.files if not _is_there(folder / file.path, file.size_bytes)]


def _is_there(path: Path, size_bytes: int) -> bool:
    return path.is_file() and path.stat().st_size == size_bytes
