"""Which replica a session was last at home, and what a session is when the client names none."""

from collections import OrderedDict
from collections.abc import Iterable
from hashlib import sha256

SESSIONS_MAX = 100_000
TEXT_CHARS_MAX = 4096  # of a message that tells conversations apart, beside its length


class StickySessions:
    """Session to place, for the sessions seen last."""

    __slots__ = ("_ages", "_sessions", "_sessions_max")

    def __init__(self, sessions_max: int = SESSIONS_MAX) -> None:
        self._sessions: OrderedDict[str, tuple[int, int]] = OrderedDict()
        self._sessions_max = sessions_max
        self._ages: dict[int, int] = {}  # how often a place was forgotten: what settled before is homeless

    def __len__(self) -> int:
        return len(self._sessions)

    def home(self, session: str) -> int | None:
        """The place where it was last; None: nowhere, or that place has been forgotten."""
        settled = self._sessions.get(session)
        if settled is None:
            return None
        place, age = settled
        if age == self._ages.get(place, 0):
            return place
        del self._sessions[session]
        return None

    def settle(self, session: str, place: int) -> bool:
        """The session's request goes there; True where that is news."""
        settled = (place, self._ages.get(place, 0))
        is_new = self._sessions.get(session) != settled
        self._sessions[session] = settled
        self._sessions.move_to_end(session)
        if len(self._sessions) > self._sessions_max:
            self._sessions.popitem(last=False)
        return is_new

    def forget(self, place: int) -> None:
        """Sessions that were there have no place now."""
        self._ages[place] = self._ages.get(place, 0) + 1


def session_of(salt: bytes, *, header: str = "", user: str = "", opening: Iterable[str | bytes] = ()) -> str:
    """The sticky key: what the client says, else its user, else the conversation's opening; "" without any of them.

    `opening` are the messages up to the first of the user: they stay the same in every turn and, unlike the first
    block of the prompt, differ where only the system prompt is shared. No two tenants have a key in common.
    """
    if header:
        return _key(salt, "session", (header,))
    if user:
        return _key(salt, "user", (user,))
    said = tuple(opening)
    return _key(salt, "opening", said) if said else ""


def _key(salt: bytes, kind: str, texts: tuple[str | bytes, ...]) -> str:
    state = sha256(b"%s %d " % (kind.encode(), len(salt)) + salt)
    for text in texts:
        head = text[:TEXT_CHARS_MAX]
        # A client may send half a surrogate pair.
        read = head if isinstance(head, bytes) else head.encode(errors="surrogatepass")
        state.update(b"%d %d " % (len(text), len(read)) + read)
    return state.hexdigest()[:32]
