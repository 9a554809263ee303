"""What of an artifact is not in a folder yet."""

from pathlib import Path

from heterodyne.domain.artifact import Artifact, ArtifactFile


def missing_files(artifact: Artifact, folder: Path) -> list[ArtifactFile]:
    """Those that are not in the folder, or were cut."""
    return [file for file in artifact.files if not _is_there(folder / file.path, file.size_bytes)]


def _is_there(path: Path, size_bytes: int) -> bool:
    return path.is_file() and path.stat().st_size == size_bytes
