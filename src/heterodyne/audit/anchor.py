"""Puts anchors of the log where those who can write to the log cannot: into a file elsewhere, or through a command."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec

from heterodyne.audit.anchor_trail import anchor_mac
from heterodyne.audit.key import AuditKey
from heterodyne.audit.log import LogState
from heterodyne.audit.settings import AuditSettings
from heterodyne.domain.audit import Anchor
from heterodyne.domain.errors import StoreUnavailable
from heterodyne.ports.audit import AnchorStore

STDERR_CHARS_MAX = 300


class AnchorFile:
    """Appends each anchor as a line of JSON; the file may be on a disk that only lets itself be appended to."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def put(self, anchor: Anchor) -> None:
        try:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)  # nothing in it is secret
            with os.fdopen(descriptor, "ab") as file:
                file.write(anchor_line(anchor))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StoreUnavailable(f"{self._path}: the anchor cannot be written: {error.strerror}") from error


class AnchorCommand:
    """Runs an operator's command with the anchor, a line of JSON, on its standard input; no shell reads it."""

    def __init__(self, command: tuple[str, ...], timeout_s: float) -> None:
        self._command = command
        self._timeout_s = timeout_s

    def put(self, anchor: Anchor) -> None:
        name = self._command[0]
        environment = {**os.environ, "HETERODYNE_ANCHOR": f"{anchor.log}-{anchor.seq:012}"}
        try:
            done = subprocess.run(  # noqa: S603  # the operator's own words, from the settings
                self._command,
                input=anchor_line(anchor),
                capture_output=True,
                timeout=self._timeout_s,
                check=False,
                env=environment,
            )
        except subprocess.TimeoutExpired as error:
            raise StoreUnavailable(f"{name}: the anchor was not taken within {self._timeout_s:g} s") from error
        except OSError as error:
            raise StoreUnavailable(f"{name}: the command for anchors cannot be run: {error.strerror}") from error
        if done.returncode:
            words = done.stderr.decode("utf-8", "replace").strip()[:STDERR_CHARS_MAX]
            raise StoreUnavailable(f"{name}: the command for anchors failed with {done.returncode}: {words}")


class AnchorKeeper:
    """Decides when an anchor is due, and puts it into every store."""

    def __init__(
        self, key: AuditKey, settings: AuditSettings, stores: tuple[AnchorStore, ...], clock: Callable[[], float]
    ) -> None:
        self._key = key
        self._settings = settings
        self._stores = stores
        self._clock = clock
        self._seq = 0
        self._at = 0.0
        self.is_failing = False  # whether the last anchor is missing in a store

    def is_due(self, state: LogState) -> bool:
        """Whether enough entries or enough time have gone by since the last."""
        is_late = self._clock() - self._at >= self._settings.anchor_every_s
        is_much = state.seq - self._seq >= self._settings.anchor_every_entries
        return self.is_behind(state) and (is_late or is_much)

    def is_behind(self, state: LogState) -> bool:
        """Whether there is an entry after the last anchor, and a store for another."""
        return bool(self._stores) and state.seq > self._seq

    def anchor(self, state: LogState) -> None:
        """Put an anchor now; raises the first `StoreUnavailable` after every store was tried."""
        # A store that fails is asked again after as long as it would have been without failing.
        self._seq, self._at = state.seq, self._clock()
        made = make_anchor(self._key, state.log, state.seq, state.hash, self._at)
        failure: StoreUnavailable | None = None
        for store in self._stores:
            try:
                store.put(made)
            except StoreUnavailable as error:
                failure = failure or error
        self.is_failing = failure is not None
        if failure is not None:
            raise failure


def anchor_stores(settings: AuditSettings) -> tuple[AnchorStore, ...]:
    """Those that the settings name."""
    stores: list[AnchorStore] = []
    if settings.anchor_file is not None:
        stores.append(AnchorFile(Path(settings.anchor_file).expanduser()))
    if settings.anchor_command:
        stores.append(AnchorCommand(settings.anchor_command, settings.anchor_timeout_s))
    return tuple(stores)


def make_anchor(key: AuditKey, log: str, seq: int, digest: str, at: float) -> Anchor:
    """An anchor of one entry, signed."""
    bare = Anchor(log=log, seq=seq, hash=digest, at=at)
    return msgspec.structs.replace(bare, mac=anchor_mac(key, bare))


def anchor_line(anchor: Anchor) -> bytes:
    """As it is kept."""
    return msgspec.json.encode(anchor) + b"\n"
