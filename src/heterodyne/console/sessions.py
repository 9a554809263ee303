"""Pure: who is signed in, and how often a wrong key may be tried.

Of a session's token only the SHA-256 is kept: whoever reads this memory cannot be anybody.
"""

from hashlib import sha256
from math import ceil

from msgspec import Struct

from heterodyne.console.errors import TooManySignIns

IDLE_S = 12 * 3600.0
WHOLE_S = 7 * 86400.0
SESSIONS_MAX = 1000

FAILURE_WINDOW_S = 300.0
FAILURES_OF_ADDRESS_MAX = 10
FAILURES_MAX = 200  # of everybody together
ADDRESSES_MAX = 1000


class Session(Struct, kw_only=True):
    """One browser of somebody."""

    key_digest: bytes  # of the key it was opened with; when that is none any more, this is over
    began_s: float
    used_s: float


class Sessions:
    """One per console; in memory alone a restart signs everybody out, `kept_sessions` keeps them."""

    def __init__(self, *, idle_s: float = IDLE_S, whole_s: float = WHOLE_S, sessions_max: int = SESSIONS_MAX) -> None:
        self.whole_s = whole_s
        self._idle_s = idle_s
        self._sessions_max = sessions_max
        self._sessions: dict[bytes, Session] = {}  # by the digest of the token, the oldest first

    def open(self, token: str, key_digest: bytes, now_s: float) -> None:
        """Somebody has signed in, with a token that nobody can guess; where there are too many, the oldest goes."""
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
        """Whoever has the token signs out."""
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


class SignInLimit:
    """How many wrong keys one address, and all together, may bring in a window of time."""

    def __init__(self) -> None:
        self._everybody = _Window()
        self._by_address: dict[str, _Window] = {}

    def check(self, address: str, now_s: float) -> None:
        """Raise where nothing more may be tried for now, not even a right key."""
        for window, most in ((self._by_address.get(address), FAILURES_OF_ADDRESS_MAX), (self._everybody, FAILURES_MAX)):
            if window is not None and window.failures_at(now_s) >= most:
                wait_s = max(1, ceil(window.began_s + FAILURE_WINDOW_S - now_s))
                raise TooManySignIns(f"Too many wrong keys; try again in {wait_s} s.", retry_after_s=wait_s)

    def note_failure(self, address: str, now_s: float) -> None:
        """A wrong key; of very many addresses the one seen first is forgotten."""
        if address not in self._by_address and len(self._by_address) >= ADDRESSES_MAX:
            del self._by_address[next(iter(self._by_address))]
        self._everybody.note(now_s)
        self._by_address.setdefault(address, _Window()).note(now_s)


class _Window:
    __slots__ = ("_failures", "began_s")

    def __init__(self) -> None:
        self.began_s = float("-inf")
        self._failures = 0

    def failures_at(self, now_s: float) -> int:
        return self._failures if now_s - self.began_s < FAILURE_WINDOW_S else 0

    def note(self, now_s: float) -> None:
        if now_s - self.began_s >= FAILURE_WINDOW_S:
            self.began_s, self._failures = now_s, 0
        self._failures += 1


def _digest(token: str) -> bytes:
    return sha256(token.encode()).digest()
