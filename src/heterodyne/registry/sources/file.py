"""`file:` weights: a file or folder that is already on this machine and is used where it lies."""

from pathlib import Path

from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.ports.weights import Progress
from heterodyne.registry.settings import FetchTerms


def local_path(reference: str) -> Path:
    """The absolute path a reference means here and now."""
    return Path(reference.removeprefix("//")).expanduser().absolute()


class FileSource:
    """Absolute, `~` and relative paths; `file:///…` too."""

    scheme = "file"

    def __init__(self, terms: FetchTerms) -> None:
        self._terms = terms

    def fetch(self, reference: str, into: Path, progress: Progress) -> Path:
        """The path itself: nothing is copied into `into`."""
        self.check(reference)
        return local_path(reference)

    def check(self, reference: str) -> None:
        """Whether something is there."""
        path = local_path(reference)
        if not path.exists():
            raise WeightsUnavailable(f"weights: no file {path} (from file:{reference})")
