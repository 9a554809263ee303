"""Bytes in an object store, or wherever else `fsspec` reads and writes: one object for each SHA-256."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from heterodyne.domain.artifact import ArtifactFile
from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.domain.url_secrets import without_secrets
from heterodyne.ports.blobs import OnBytes
from heterodyne.registry.blobs.checked_copy import bring_checked
from heterodyne.registry.blobs.ranged_read import ReadTerms
from heterodyne.stores.files.file_system import open_file_system, written_at

_SHA256 = re.compile(r"[0-9a-f]{64}")
PAUSE_FIRST_S, PAUSE_MAX_S = 0.2, 10.0


class ObjectBlobs:
    """Below one URL. Who may read it is said as its own library says it: in the environment, or by the machine's role.

    An object appears whole or not at all, and never changes, so nobody has to lock anything.
    """

    def __init__(self, url: str, terms: ReadTerms, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._shown = without_secrets(url)
        self._terms = terms
        self._sleep = sleep
        self._files, self._root = open_file_system(url, "registry.blobs_url")

    def has(self, sha256: str, size_bytes: int) -> bool:
        """Whether it is there; an object of another size was cut."""
        try:
            return bool(self._asked("info", self._path(sha256))["size"] == size_bytes)
        except FileNotFoundError:
            return False

    def put(self, path: Path, sha256: str, *, is_ours: bool = False) -> None:
        """Send the file, unless it is there."""
        if not self.has(sha256, path.stat().st_size):
            target = self._path(sha256)
            self._asked("makedirs", target.rpartition("/")[0], exist_ok=True)
            self._asked("put_file", str(path), target)

    def fetch(self, file: ArtifactFile, target: Path, on_bytes: OnBytes) -> None:
        """In ranges, several at once, checked on the way in."""
        path = self._path(file.sha256)
        whence = f"{self._shown}: {file.path}"

        def read(start: int, end: int) -> bytes:
            data: bytes = self._asked("cat_file", path, start=start, end=end)
            return data

        try:
            bring_checked(read, file, target, whence=whence, on_bytes=on_bytes, terms=self._terms)
        except FileNotFoundError as error:
            raise WeightsUnavailable(f"{whence} is not there; import or build it again") from error
        except OSError as error:
            raise WeightsUnavailable(f"{target}: cannot be written: {error.strerror or error}") from error

    def delete(self, sha256: str) -> None:
        """Forget it, where it is there."""
        try:
            self._asked("rm_file", self._path(sha256))
        except FileNotFoundError:
            return

    def kept(self) -> Iterator[tuple[str, float]]:
        """All, with when each was put; where a place does not say, as if it were just now."""
        try:
            found: dict[str, dict[str, Any]] = self._asked("find", self._root, detail=True)
        except FileNotFoundError:
            return
        for path, facts in found.items():
            name = path.rpartition("/")[2]
            if _SHA256.fullmatch(name):
                yield name, written_at(facts)

    def _path(self, sha256: str) -> str:
        assert _SHA256.fullmatch(sha256), "a name is a hash"
        return f"{self._root}/{sha256[:2]}/{sha256}"

    def _asked(self, call: str, *words: Any, **named: Any) -> Any:
        """One call of the file system, again after a while where it fails; what is not there is not asked for twice."""
        for attempt in range(self._terms.attempts_max):
            if attempt:
                self._sleep(min(PAUSE_FIRST_S * 2 ** (attempt - 1), PAUSE_MAX_S))
            try:
                return getattr(self._files, call)(*words, **named)
            except FileNotFoundError:
                raise
            except PermissionError as error:
                raise WeightsUnavailable(f"{self._shown}: this machine may not read or write it: {error}") from error
            except Exception as error:  # noqa: BLE001 - every library behind fsspec has errors of its own
                last = error
        raise WeightsUnavailable(
            f"{self._shown}: {type(last).__name__}: {last} ({self._terms.attempts_max} attempts)"
        ) from last
