"""Pure: the person behind a request, by its key, and what they may do."""

from enum import StrEnum
from hashlib import sha256
from hmac import compare_digest

from msgspec import Struct

from heterodyne.admission.callers import ISSUED
from heterodyne.domain.errors import Unauthenticated

SHOWN_CHARS = 8  # of a digest: enough to tell keys apart in a log


class OperatorRole(StrEnum):
    """What a person may do at the admin port."""

    VIEWER = "viewer"  # sees everything but secrets, changes nothing
    OPERATOR = "operator"


class Person(Struct, frozen=True, kw_only=True):
    """The person, or program, behind a request."""

    who: str  # a name for the log
    role: OperatorRole
    digest: bytes | None = None  # of their key; None: they need none


LOCAL = Person(who="local", role=OperatorRole.OPERATOR)  # any caller, where no keys are set


class Operators:
    """The digests of operators' and viewers' keys; without any, every caller is `local` (loopback only,
    checked at start-up)."""

    def __init__(
        self, digests: tuple[str, ...], viewer_digests: tuple[str, ...] = (), *, has_issuer: bool = False
    ) -> None:
        """`has_issuer`: people may sign in without a key, so that nobody comes in unasked where there are none."""
        self._has_issuer = has_issuer
        people = [(digest, OperatorRole.VIEWER) for digest in viewer_digests] + [
            (digest, OperatorRole.OPERATOR) for digest in digests
        ]
        self._people = {bytes.fromhex(digest): _person(digest, role) for digest, role in people}

    @property
    def needs_key(self) -> bool:
        """Whether a key is required, or that somebody has signed in."""
        return bool(self._people) or self._has_issuer

    @property
    def digests(self) -> frozenset[bytes]:
        """Of all keys."""
        return frozenset(self._people)

    def identify(self, authorization: str | None) -> Person:
        """By a header; raises where it holds no key of these."""
        scheme, _, key = (authorization or "").partition(" ")
        if key.strip().encode().startswith(ISSUED):
            # Also where no key is needed: a tenant's request, past a proxy perhaps, is not an operator's.
            raise Unauthenticated("This is the key of a project, and opens nothing here.")
        if not self.needs_key:
            return LOCAL
        if scheme.lower() != "bearer" or not key.strip():
            raise Unauthenticated("An operator key is required: send `Authorization: Bearer <key>`.")
        return self.by_key(key)

    def by_key(self, key: str) -> Person:
        """By the key itself; raises for one that is not in the settings."""
        digest = sha256(key.strip().encode()).digest()
        # Every digest is compared, so the time taken does not depend on which one matched.
        matching = [person for known, person in self._people.items() if compare_digest(digest, known)]
        if not matching:
            raise Unauthenticated("The operator key is not valid.")
        return matching[0]

    def try_by_digest(self, digest: bytes) -> Person | None:
        """The person who signed in with this key; None: it is no key any more."""
        return self._people.get(digest)


def _person(digest: str, role: OperatorRole) -> Person:
    return Person(who=f"key {digest[:SHOWN_CHARS]}", role=role, digest=bytes.fromhex(digest))
