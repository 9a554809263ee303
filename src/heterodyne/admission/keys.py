"""Pure: whether a bearer key is one that was issued, and whose."""

from hashlib import sha256
from hmac import compare_digest

from heterodyne.domain.errors import Unauthenticated

LOCAL = b"local"  # whoever asks a gateway without keys


class KeyRing:
    """The digests of issued keys; an empty ring lets everybody in (loopback only, checked at start-up)."""

    def __init__(self, digests: tuple[str, ...]) -> None:
        self._digests = tuple(bytes.fromhex(digest) for digest in digests)

    def check(self, authorization: bytes | None) -> bytes:
        """Whose key the Authorization header carries; raises unless it was issued."""
        if not self._digests:
            return LOCAL
        scheme, _, key = (authorization or b"").partition(b" ")
        key = key.strip()
        if scheme.lower() != b"bearer" or not key:
            raise Unauthenticated("An API key is required: send `Authorization: Bearer <key>`.")
        digest = sha256(key).digest()
        # Every digest is compared, so the time taken says nothing about which one matched.
        if not sum(compare_digest(digest, known) for known in self._digests):
            raise Unauthenticated("The API key is not valid.")
        return digest
