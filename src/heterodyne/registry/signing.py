"""Signatures of artifacts: ed25519, of the digest, which stands for every byte."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heterodyne.domain.artifact import Digest, Signature, StoredArtifact
from heterodyne.domain.errors import SettingsInvalid

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

MESSAGE = b"heterodyne artifact "
KEY_ID_SIGNS = 16
MISSING = "signatures need the extra `signing`: pip install 'heterodyne[signing]'"


def new_key(path: Path) -> str:
    """Write a private key that only its owner may read; the public one in hexadecimal."""
    serialization, ed25519 = _library()
    key = ed25519.Ed25519PrivateKey.generate()
    content = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    try:
        path.touch(mode=0o600, exist_ok=False)
        path.write_bytes(content)
    except OSError as error:
        raise SettingsInvalid(f"{path}: cannot be written: {error.strerror}") from error
    return public_key(key)


def read_key(path: Path) -> "Ed25519PrivateKey":
    """A private key in PEM, as `new_key` and openssl write it."""
    serialization, ed25519 = _library()
    try:
        key = serialization.load_pem_private_key(path.read_bytes(), None)
    except OSError as error:
        raise SettingsInvalid(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, TypeError) as error:
        raise SettingsInvalid(f"{path}: is not a private key in PEM without a password: {error}") from error
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise SettingsInvalid(f"{path}: is a private key of another kind; ed25519 is expected")
    private: Ed25519PrivateKey = key
    return private


def public_key(key: "Ed25519PrivateKey") -> str:
    """In hexadecimal, as `registry.trusted_keys` has it."""
    raw: bytes = key.public_key().public_bytes_raw()
    return raw.hex()


def key_id(public: str) -> str:
    """What a key is called."""
    return sha256(bytes.fromhex(public)).hexdigest()[:KEY_ID_SIGNS]


def signature_of(key: "Ed25519PrivateKey", digest: Digest, at: float) -> Signature:
    """The owner of the key vouches for the artifact."""
    return Signature(key_id=key_id(public_key(key)), signature=key.sign(MESSAGE + digest.encode()).hex(), at=at)


def trusted_signers(stored: StoredArtifact, trusted_keys: Sequence[str]) -> tuple[str, ...]:
    """The ids of the trusted keys whose signatures of this artifact hold."""
    if not stored.signatures or not trusted_keys:
        return ()
    _, ed25519 = _library()
    by_id, message = {key_id(public): public for public in trusted_keys}, MESSAGE + stored.artifact.digest.encode()
    found = []
    for one in stored.signatures:
        public = by_id.get(one.key_id)
        if public is None:
            continue
        key = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        if _holds(key, one.signature, message):
            found.append(one.key_id)
    return tuple(found)


def check_signed(stored: StoredArtifact, trusted_keys: Sequence[str], *, is_required: bool) -> None:
    """Raise where nobody who is trusted vouches for it and somebody must."""
    if is_required and not trusted_signers(stored, trusted_keys):
        raise SettingsInvalid(
            f"{stored.artifact.name} is not signed by a key of `registry.trusted_keys`; sign it with "
            f"`heterodyne models sign {stored.artifact.model}@{stored.artifact.version} --key FILE`"
        )


def _holds(key: Any, signature: str, message: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - an extra

    try:
        key.verify(bytes.fromhex(signature), message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _library() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - an extra
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415
    except ImportError as error:
        raise SettingsInvalid(MISSING) from error
    return serialization, ed25519
