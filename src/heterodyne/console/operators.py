"""Pure: who asks, by the key they bring."""

from hashlib import sha256
from hmac import compare_digest

from heterodyne.admission.callers import ISSUED
from heterodyne.domain.errors import Unauthenticated

LOCAL = "local"  # whoever can reach a keyless door
SHOWN_CHARS = 8  # of a digest: enough to tell keys apart in a log


class Operators:
    """The digests of operators' keys; without any, everybody who gets here is `local` (loopback only, checked at
    start-up)."""

    def __init__(self, digests: tuple[str, ...]) -> None:
        self._digests = tuple(bytes.fromhex(digest) for digest in digests)

    def identify(self, authorization: str | None) -> str:
        """A name for the log; raises for anybody without an issued key."""
        scheme, _, key = (authorization or "").partition(" ")
        key = key.strip()
        if key.encode().startswith(ISSUED):
            # Also where no key is needed: whoever comes as a tenant, past a proxy perhaps, is no operator.
            raise Unauthenticated("This is the key of a project, and opens nothing here.")
        if not self._digests:
            return LOCAL
        if scheme.lower() != "bearer" or not key:
            raise Unauthenticated("An operator key is required: send `Authorization: Bearer <key>`.")
        digest = sha256(key.encode()).digest()
        # Every digest is compared, so the time taken says nothing about which one matched.
        matching = [known for known in self._digests if compare_digest(digest, known)]
        if not matching:
            raise Unauthenticated("The operator key is not valid.")
        return f"key {matching[0].hex()[:SHOWN_CHARS]}"
