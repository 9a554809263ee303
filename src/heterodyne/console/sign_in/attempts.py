"""Pure: sign-ins that have begun here and are at the issuer now."""

from hashlib import sha256
from hmac import compare_digest

from msgspec import Struct

ATTEMPTS_MAX = 1000
WHOLE_S = 600.0  # as long as somebody may take at the issuer


class BegunSignIn(Struct, frozen=True, kw_only=True):
    """What has to come back, and what is shown for it."""

    browser_digest: bytes  # of the cookie of the browser that began it
    nonce: str
    verifier: str  # of PKCE
    began_s: float

    def __repr__(self) -> str:
        return f"BegunSignIn(began_s={self.began_s})"


class BegunSignIns:
    """One per console."""

    def __init__(self) -> None:
        self._by_state: dict[str, BegunSignIn] = {}

    def begin(self, state: str, attempt: BegunSignIn) -> None:
        """Of too many the first is forgotten."""
        while len(self._by_state) >= ATTEMPTS_MAX:
            del self._by_state[next(iter(self._by_state))]
        self._by_state[state] = attempt

    def try_end(self, state: str, browser: str, now_s: float) -> BegunSignIn | None:
        """That of this state, once, and for the browser that began it; None: there is none."""
        found = self._by_state.get(state)
        if found is None or not compare_digest(found.browser_digest, digest_of(browser)):
            return None  # who only saw the state must not end it for whom it belongs to
        del self._by_state[state]
        return found if now_s - found.began_s < WHOLE_S else None


def digest_of(browser: str) -> bytes:
    """Of a browser's cookie."""
    return sha256(browser.encode("utf-8", "surrogatepass")).digest()
