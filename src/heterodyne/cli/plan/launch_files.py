"""A launch as files: what each holds, and how they are written."""

from pathlib import Path

from heterodyne.domain.errors import InvalidSpec

SCRIPT = "launch.sh"
POOL = "pool.toml"
KUBERNETES = "kubernetes.yaml"


def write_files(folder: Path, files: dict[str, str], *, is_forced: bool) -> list[Path]:
    """Write every file or none; raises `InvalidSpec` rather than overwrite."""
    paths = {folder / name: text for name, text in files.items()}
    existing = [str(path) for path in paths if path.exists()]
    if existing and not is_forced:
        raise InvalidSpec(f"output-dir: {', '.join(existing)} exist already; name another folder, or say --force")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in paths.items():
            path.write_text(text, encoding="utf-8")
            if path.name == SCRIPT:
                path.chmod(0o755)
    except OSError as error:
        raise InvalidSpec(f"output-dir: {error.filename}: cannot be written: {error.strerror}") from error
    return list(paths)
