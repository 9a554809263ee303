"""The folder of files that engines save slots to: what is in it, whose it is, and how much it may hold.

A file's name is a digest of everything that its KV depends on: the layout, the tenant's salt, the chain of the prompt.
Beside each lies a record of its size and digest, written last. What has no record, or another size or digest than its
record says, is not restored and is taken away.

    await files.open()                                   what earlier runs left is known again
    await files.record(key, tokens=…, byte_count=…)      the engine has written it
    file = await files.verified(key)                     None: it is not there as it was recorded
"""

import asyncio
import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from struct import pack

import msgspec
from msgspec import Struct

BYTES_MAX = 8 << 30
TTL_S = 3600.0
FILES_MAX = 4096
LEFT_S = 60.0  # after which a file without a record is nobody's
DATA, RECORD = ".slot", ".json"
_is_key = re.compile("[0-9a-f]{64}").fullmatch


class SlotFile(Struct, frozen=True, kw_only=True):
    """One saved slot."""

    key: str
    byte_count: int
    tokens: int
    sha256: str
    saved_at_s: float  # by the clock on the wall


class SlotFiles:
    """One per folder. Blocking work is done in threads."""

    def __init__(
        self,
        folder: Path,
        *,
        wall_clock: Callable[[], float],
        bytes_max: int = BYTES_MAX,
        ttl_s: float = TTL_S,
        files_max: int = FILES_MAX,
    ) -> None:
        self.folder = folder
        self._wall_clock = wall_clock
        self._bytes_max, self._ttl_s, self._files_max = bytes_max, ttl_s, files_max
        self._files: OrderedDict[str, SlotFile] = OrderedDict()  # the one used longest ago first
        self._changing = asyncio.Lock()

    async def open(self) -> None:
        """Make the folder where it is missing, and know again what is in it."""
        found = await asyncio.to_thread(_read_folder, self.folder)
        self._files = OrderedDict((one.key, one) for one in found)
        await self.sweep()

    @property
    def bytes(self) -> int:
        """In all files that are known."""
        return sum(one.byte_count for one in self._files.values())

    def keys(self) -> tuple[str, ...]:
        return tuple(self._files)

    def __contains__(self, key: str) -> bool:
        return key in self._files

    async def record(self, key: str, *, tokens: int, byte_count: int) -> SlotFile | None:
        """A file that an engine has just written, if it is as large as the engine says; room is made for it."""
        async with self._changing:
            saved_at_s = self._wall_clock()
            file = await asyncio.to_thread(_record, self.folder, key, tokens, byte_count, saved_at_s)
            if file is None:
                await asyncio.to_thread(_remove, self.folder, [key])
                return None
            self._files[key] = file
            self._files.move_to_end(key)
        await self.sweep(keep=key)
        return file

    async def verified(self, key: str) -> SlotFile | None:
        """The file, if it is there, not too old, and as it was recorded, byte by byte."""
        file = self._files.get(key)
        if file is None:
            return None
        is_good = self._wall_clock() - file.saved_at_s <= self._ttl_s
        if is_good and await asyncio.to_thread(_is_as_recorded, self.folder, file):
            if key in self._files:
                self._files.move_to_end(key)
            return file
        await self._drop([key])
        return None

    async def sweep(self, keep: str = "") -> None:
        """Take away what is too old, and what was used longest ago where there is too much."""
        oldest_s = self._wall_clock() - self._ttl_s
        gone = [key for key, one in self._files.items() if one.saved_at_s < oldest_s and key != keep]
        left = [one for key, one in self._files.items() if key not in gone]
        total = sum(one.byte_count for one in left)
        for count, one in zip(range(len(left), 0, -1), left, strict=True):
            if (total <= self._bytes_max and count <= self._files_max) or one.key == keep:
                continue
            gone.append(one.key)
            total -= one.byte_count
        await self._drop(gone)
        async with self._changing:
            await asyncio.to_thread(_remove_leftovers, self.folder, frozenset(self._files), self._wall_clock())

    async def _drop(self, keys: Sequence[str]) -> None:
        if not keys:
            return
        async with self._changing:
            for key in keys:
                self._files.pop(key, None)
            await asyncio.to_thread(_remove, self.folder, keys)


def slot_key(layout: str, tenant: bytes, hashes: Sequence[int]) -> str:
    """What a saved slot is known by: it can be found only with the same layout, tenant and prompt."""
    digest = hashlib.sha256(pack("<II", len(layout.encode()), len(tenant)) + layout.encode() + tenant)
    digest.update(pack(f"<{len(hashes)}Q", *hashes))
    return digest.hexdigest()


def file_name(key: str) -> str:
    """As engines are told it."""
    return key + DATA


def _record(folder: Path, key: str, tokens: int, byte_count: int, saved_at_s: float) -> SlotFile | None:
    path = folder / file_name(key)
    try:
        if path.stat().st_size != byte_count:
            return None
        file = SlotFile(key=key, byte_count=byte_count, tokens=tokens, sha256=_digest(path), saved_at_s=saved_at_s)
        (folder / f"{key}{RECORD}").write_bytes(msgspec.json.encode(file))
    except OSError:
        return None
    return file


def _is_as_recorded(folder: Path, file: SlotFile) -> bool:
    path = folder / file_name(file.key)
    try:
        return path.stat().st_size == file.byte_count and _digest(path) == file.sha256
    except OSError:
        return False


def _digest(path: Path) -> str:
    with path.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


def _remove(folder: Path, keys: Sequence[str]) -> None:
    for key in keys:
        (folder / f"{key}{RECORD}").unlink(missing_ok=True)  # first: without it the rest counts as nothing
        (folder / file_name(key)).unlink(missing_ok=True)


def _remove_leftovers(folder: Path, known: frozenset[str], now_s: float) -> None:
    """What engines wrote when nobody waited for it any more. Names that are not ours are somebody else's files."""
    for path in folder.iterdir():
        if path.suffix in (DATA, RECORD) and _is_key(path.stem) and path.stem not in known:
            try:
                is_old = now_s - path.stat().st_mtime > LEFT_S
            except FileNotFoundError:
                continue
            if is_old:
                path.unlink(missing_ok=True)


def _read_folder(folder: Path) -> list[SlotFile]:
    """What has a record, the oldest first."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found: dict[str, SlotFile] = {}
    for path in folder.glob(f"*{RECORD}"):
        try:
            file = msgspec.json.decode(path.read_bytes(), type=SlotFile)
        except (OSError, msgspec.MsgspecError):
            continue
        if file.key == path.stem and _is_key(file.key):
            found[file.key] = file
    return sorted(found.values(), key=lambda one: one.saved_at_s)
