"""Sessions that outlive a restart: a file for this user alone, beside the database.

It holds what the memory does: digests of tokens and of keys, which open nothing. A session whose key has left the
settings meanwhile is not taken back. Where the file cannot be written, sessions go on in memory.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from heterodyne.console.access.sessions import Session, Sessions
from heterodyne.telemetry import log

SAVE_INTERVAL_S = 300.0  # how late the file may be about when a session was used last

_log = log.get("console")


class KeptSession(Struct, frozen=True, kw_only=True):
    """As it is written, by the clock on the wall: the other one begins anew with the machine."""

    token_digest: bytes
    key_digest: bytes
    began_at: float
    used_at: float


class KeptSessions(Sessions):
    """One per console."""

    def __init__(
        self,
        file: Path,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self._file = file
        self._clock = clock
        self._wall_clock = wall_clock
        self._saved_s = clock()
        self._restore()

    def open(self, token: str, key_digest: bytes, now_s: float) -> None:
        """Begin a session, and write it to the file."""
        super().open(token, key_digest, now_s)
        self._save()

    def try_use(self, token: str, now_s: float) -> bytes | None:
        """As any sessions do; now and then the file learns of it."""
        found = super().try_use(token, now_s)
        if now_s - self._saved_s >= SAVE_INTERVAL_S:
            self._save()
        return found

    def close(self, token: str) -> None:
        """End the session of this token, in the file too."""
        super().close(token)
        self._save()

    def keep_only(self, key_digests: frozenset[bytes]) -> None:
        """End the sessions of all other keys."""
        before = len(self)
        super().keep_only(key_digests)
        if len(self) != before:
            self._save()

    def _restore(self) -> None:
        now_s, now_at = self._clock(), self._wall_clock()
        for one in _read(self._file):
            ages_s = (now_at - one.began_at, now_at - one.used_at)
            session = Session(key_digest=one.key_digest, began_s=now_s - ages_s[0], used_s=now_s - ages_s[1])
            # A clock that was set back would make sessions younger than they are.
            if min(ages_s) >= 0 and not self._is_over(session, now_s):
                self._sessions[one.token_digest] = session

    def _save(self) -> None:
        now_s, now_at = self._clock(), self._wall_clock()
        self._saved_s = now_s
        kept = [
            KeptSession(
                token_digest=digest,
                key_digest=session.key_digest,
                began_at=now_at - (now_s - session.began_s),
                used_at=now_at - (now_s - session.used_s),
            )
            for digest, session in self._sessions.items()
        ]
        _write(self._file, kept)


def _read(file: Path) -> list[KeptSession]:
    try:
        return msgspec.json.decode(file.read_bytes(), type=list[KeptSession])
    except FileNotFoundError:
        return []
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        _log.warning("sessions_not_restored", file=str(file), error=str(error))
        return []


def _write(file: Path, kept: list[KeptSession]) -> None:
    unready = file.with_suffix(".unready")
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(unready, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
            out.write(msgspec.json.encode(kept))
        unready.replace(file)
    except OSError as error:
        _log.warning("sessions_not_saved", file=str(file), error=str(error))
