"""Pure: who is signed in.

Of a session's token only the SHA-256 is kept: reading this memory is not enough to take a session over.
"""

from hashlib import sha256

from msgspec import Struct

IDLE_S = 12 * 3600.0
WHOLE_S = 7 * 86400.0
SESSIONS_MAX = 1000


class Session(Struct, kw_only=True):
    """One browser that has signed in."""

    key_digest: bytes  # of the key it was opened with; when that is none any more, this is over
    began_s: float
    used_s: float


class Sessions:
    """One per console; in memory alone a restart ends them all, `kept_sessions` keeps them."""

    def __init__(self, *, idle_s: float = IDLE_S, whole_s: float = WHOLE_S, sessions_max: int = SESSIONS_MAX) -> None:
        self.whole_s = whole_s
        self._idle_s = idle_s
        self._sessions_max = sessions_max
        self._sessions: dict[bytes, Session] = {}  # by the digest of the token, the oldest first

    def open(self, token: str, key_digest: bytes, now_s: float) -> None:
        """Begin a session, with a token that cannot be guessed; where there are too many, the oldest goes."""
        for digest in [digest for digest, session in self._sessions.items() if self._is_over(session, now_s)]:
            del self._sessions[digest]
        while len(self._sessions) >= self._sessions_max:
            del self._sessions[next(iter(self._sessions))]
        self._sessions[_digest(token)] = Session(key_digest=key_digest, began_s=now_s, used_s=now_s)

    def try_use(self, token: str, now_s: float) -> bytes | None:
        """The digest of the key behind a token, which is not idle now; None: it opens nothing."""
        digest = _digest(token)
        session = self._sessions.get(digest)
        if session is None:
            return None
        if self._is_over(session, now_s):
            del self._sessions[digest]
            return None
        session.used_s = now_s
        return session.key_digest

    def close(self, token: str) -> None:
        """End the session of this token."""
        self._sessions.pop(_digest(token), None)

    def keep_only(self, key_digests: frozenset[bytes]) -> None:
        """End the sessions of all other keys."""
        self._sessions = {
            digest: session for digest, session in self._sessions.items() if session.key_digest in key_digests
        }

    def __len__(self) -> int:
        return len(self._sessions)

    def _is_over(self, session: Session, now_s: float) -> bool:
        return now_s - session.used_s >= self._idle_s or now_s - session.began_s >= self.whole_s


def _digest(token: str) -> bytes:
    return sha256(token.encode()).digest()
