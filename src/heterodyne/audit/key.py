"""The audit key: one secret in a file, and a key of its own derived from it for each use."""

import hmac
import os
import secrets
import stat
from collections.abc import Iterable
from hashlib import blake2b, sha256
from pathlib import Path

from heterodyne.domain.errors import AuditBroken, SettingsInvalid

SECRET_BYTES = 32


class AuditKey:
    """Hashes lines, anchors and content; it shows its secrets nowhere."""

    __slots__ = ("_anchor", "_chain", "content")

    def __init__(self, secret: bytes) -> None:
        self._chain = _derived(secret, b"chain")
        self._anchor = _derived(secret, b"anchor")
        self.content = ContentKey(_derived(secret, b"content"))

    def line_hash(self, body: bytes) -> str:
        """Hex, of a line without its hash. BLAKE2b takes the key itself and is half the price of an HMAC."""
        return blake2b(body, key=self._chain, digest_size=32).hexdigest()

    def mac(self, *fields: object) -> str:
        """Hex, over fields of a head or an anchor; their lengths are part of it, so that none can pass into another."""
        text = "".join(f"{len(str(field))}:{field}" for field in fields)
        return hmac.digest(self._anchor, text.encode(), "sha256").hex()


class ContentKey:
    """What prompts and answers are hashed with; all that a worker needs of the audit key."""

    __slots__ = ("_inner", "_outer", "_secret")

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        # HMAC as RFC 2104 has it, with what depends on the key alone done once: a third of the price of the library's.
        padded = secret.ljust(64, b"\0")
        self._inner = sha256(bytes(byte ^ 0x36 for byte in padded))
        self._outer = sha256(bytes(byte ^ 0x5C for byte in padded))

    def hmac(self, project: str, kind: str, pieces: Iterable[bytes]) -> str:
        """HMAC-SHA-256, hex. Bound to the project: two tenants with the same prompt cannot be recognised in the log."""
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(f"{kind}\0{project}\0".encode())
        for piece in pieces:
            inner.update(piece)  # not put together before: a hash lets others run while it reads, a copy does not
        outer.update(inner.digest())
        return outer.hexdigest()

    def expose(self) -> bytes:
        """The secret, for handing it to a worker over a private channel; `ContentKey` takes it back."""
        return self._secret


def open_key(path: Path, *, may_create: bool) -> AuditKey:
    """The key in a file, drawn and written for its owner alone where there is none and there may be a new one."""
    try:
        if may_create and not path.exists():
            _create(path)
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read(4 * SECRET_BYTES)
    except FileNotFoundError as error:
        raise AuditBroken(
            f"{path}: the audit key is not there, and nothing of the log can be verified or added without it. "
            "Put the copy back that was made of it."
        ) from error
    except OSError as error:
        raise AuditBroken(f"{path}: the audit key cannot be read: {error.strerror}") from error
    if stat.S_IMODE(mode) & 0o077:
        raise SettingsInvalid(f"{path}: others may read the audit key; `chmod 600 {path}`, and think about a new log")
    try:
        secret = bytes.fromhex(text.decode("ascii").strip())
    except ValueError:
        secret = b""
    if len(secret) != SECRET_BYTES:
        raise SettingsInvalid(f"{path}: no audit key; it has to hold {SECRET_BYTES} bytes in hex, and nothing else")
    return AuditKey(secret)


def _derived(secret: bytes, use: bytes) -> bytes:
    return hmac.digest(secret, b"heterodyne audit " + use, "sha256")


def _create(path: Path) -> None:
    """Whole or not at all, and the first of two wins."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_hex(SECRET_BYTES).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            return  # another process's came first, and is as good
    finally:
        draft.unlink()
