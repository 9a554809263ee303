"""The folder of fetched weights: one entry per URI, with a manifest that shows whether it is still what it was.

NAME-KEY/manifest.json   written last, so an entry without it is unfinished
NAME-KEY/content/        what the source brought
NAME-KEY/arriving/       a fetch under way, kept for the next start to resume
NAME-KEY/lock            held by the process that fetches
"""

import hashlib
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.domain.url_secrets import without_secrets
from heterodyne.registry.files import exclusive, sha256_of
from heterodyne.registry.settings import RegistrySettings
from heterodyne.registry.shards import shards_of


class StampedFile(Struct, frozen=True, kw_only=True):
    """A file as it was when its hash was taken."""

    path: str  # inside the entry; absolute for weights used where they lie
    size_bytes: int
    modified_ns: int
    sha256: str


class Manifest(Struct, frozen=True, kw_only=True):
    """What an entry holds."""

    uri: str
    sha256: str  # of the weight file, or of its shards one after the other
    size_bytes: int
    served: str  # the file an engine loads, named as in `files`
    files: tuple[StampedFile, ...]


class WeightCache:
    """All entries under one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def entry(self, uri: str) -> "CacheEntry":
        """The place of one URI, whether or not it holds anything."""
        return CacheEntry(self.folder / _entry_name(uri))

    def list(self) -> tuple[Manifest, ...]:
        """Every finished entry, by URI."""
        found = [CacheEntry(path.parent).try_manifest() for path in self.folder.glob("*/manifest.json")]
        return tuple(sorted((one for one in found if one is not None), key=lambda one: one.uri))


class CacheEntry:
    """The place of one URI."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.arriving = folder / "arriving"
        self.content = folder / "content"

    @contextmanager
    def locked(self, on_wait: Callable[[], None]) -> Iterator[None]:
        """Hold the entry: other processes that want the same weights wait here."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with exclusive(self._folder / "lock", on_wait):
                yield
        except OSError as error:
            raise WeightsUnavailable(f"weights: cannot keep them in {self._folder}: {error}") from error

    def try_manifest(self) -> Manifest | None:
        """The manifest, or None while nothing has been kept here."""
        try:
            return msgspec.json.decode((self._folder / "manifest.json").read_bytes(), type=Manifest)
        except (OSError, msgspec.MsgspecError):
            return None

    def try_served(self, sha256: str | None, *, verify: bool) -> Path | None:
        """The file to load, if it is still what was kept and what is declared now."""
        manifest = self.try_manifest()
        if manifest is None or sha256 not in {None, manifest.sha256}:
            return None
        served = self._folder / manifest.served
        stamped = {self._folder / stamp.path for stamp in manifest.files}
        if not stamped.issuperset(shards_of(served)):
            return None  # of an older version, which vouched for the first shard alone
        if not all(self._is_intact(stamp, verify=verify) for stamp in manifest.files):
            return None
        return served

    def try_source(self) -> Path | None:
        """The first file of the weights as they came, or None while nothing has been kept here."""
        manifest = self.try_manifest()
        return None if manifest is None else self._folder / manifest.files[0].path

    def keep(self, uri: str, weight_files: tuple[Path, ...], served: Path, files: tuple[Path, ...]) -> Path:
        """Write the manifest of files that are in their final place; returns the served one."""
        stamps = tuple(self._stamp(path) for path in dict.fromkeys((*weight_files, *files, served)))
        manifest = Manifest(
            uri=without_secrets(uri),
            sha256=stamps[0].sha256 if len(weight_files) == 1 else sha256_of(*weight_files),
            size_bytes=sum(stamp.size_bytes for stamp in stamps),
            served=self._inside(served),
            files=stamps,
        )
        arriving = self._folder / "manifest.json.part"
        arriving.write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=2))
        arriving.replace(self._folder / "manifest.json")
        return served

    def settle(self, arrived: Path) -> Path:
        """Move what arrived from `arriving` into `content` in one step; weights that lie elsewhere stay there."""
        if not arrived.is_relative_to(self.arriving):
            self.arriving.rename(self.content)
            return arrived
        whole = self.arriving / "whole"
        shutil.rmtree(whole, ignore_errors=True)
        whole.mkdir()
        arrived.rename(whole / arrived.name)
        whole.rename(self.content)
        shutil.rmtree(self.arriving)
        return self.content / arrived.name

    def discard_content(self) -> None:
        """Forget what was kept; a fetch under way stays."""
        (self._folder / "manifest.json").unlink(missing_ok=True)
        shutil.rmtree(self.content, ignore_errors=True)

    def discard_arrived(self) -> None:
        """Throw away a fetch that turned out wrong."""
        shutil.rmtree(self.arriving, ignore_errors=True)

    def _is_intact(self, stamp: StampedFile, *, verify: bool) -> bool:
        path = self._folder / stamp.path
        try:
            now = path.stat()
            if now.st_size != stamp.size_bytes:
                return False
            # A changed time alone proves nothing: archives and image layers round it.
            is_untouched = now.st_mtime_ns == stamp.modified_ns
            return (is_untouched and not verify) or sha256_of(path) == stamp.sha256
        except OSError:
            return False

    def _stamp(self, path: Path) -> StampedFile:
        now = path.stat()
        return StampedFile(
            path=self._inside(path),
            size_bytes=now.st_size,
            modified_ns=now.st_mtime_ns,
            sha256=sha256_of(path),
        )

    def _inside(self, path: Path) -> str:
        return str(path.relative_to(self._folder) if path.is_relative_to(self._folder) else path)


def cache_folder(settings: RegistrySettings, environment: Mapping[str, str] = os.environ) -> Path:
    """Where weights are kept: the setting, else the user's cache folder."""
    if settings.cache_dir is not None:
        return Path(settings.cache_dir).expanduser().absolute()
    if environment.get("XDG_CACHE_HOME"):
        base = Path(environment["XDG_CACHE_HOME"])
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path.home() / ".cache"
    return base / "heterodyne" / "weights"


def _entry_name(uri: str) -> str:
    """Readable for people, unique for the URI."""
    words = "-".join(re.findall(r"[\w.-]+", without_secrets(uri)))[-80:].strip(".-")
    return f"{words}-{hashlib.sha256(uri.encode()).hexdigest()[:12]}"
