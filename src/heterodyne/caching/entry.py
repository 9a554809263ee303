"""An answer that is kept: what it is, for how long it holds, and a seal by which a damaged one is noticed.

A cache outlives processes and may be shared, so what comes out of it is believed only where its seal is right. The
seal is keyed: who can write into the store and does not have the key cannot put an answer there.
"""

import hmac
from typing import Final

import msgspec
from blake3 import blake3
from msgspec import Struct

SEAL_BYTES: Final = 32
SECRET_BYTES: Final = 32


class CachedAnswer(Struct, frozen=True, kw_only=True):
    """One answer with what is needed to know whether it may be served."""

    key: bytes  # of the request that it answers
    fence: bytes  # who may get it
    model_version: str
    stored_at_s: float
    expires_at_s: float
    body: bytes
    usd: float = 0.0  # what it cost when a replica gave it
    tags: tuple[str, ...] = ()  # by which it may be dropped
    project: str = ""  # that asked for it
    asked_at_s: float = 0.0  # which an answer that came later may not know of

    def is_fresh(self, now_s: float) -> bool:
        """Whether its time has not passed; an entry of the future is one of a clock that was set back."""
        return self.stored_at_s <= now_s < self.expires_at_s


def seal(answer: CachedAnswer, secret: bytes) -> bytes:
    """The bytes to store: the seal, then the answer."""
    return seal_bytes(_ENCODER.encode(answer), secret)


def try_open(stored: bytes, secret: bytes, *, key: bytes, fence: bytes) -> CachedAnswer | None:
    """The answer in stored bytes; None where they were cut, changed, or belong to another request or fence."""
    data = try_open_bytes(stored, secret)
    if data is None:
        return None
    answer = _DECODER.decode(data)
    return answer if answer.key == key and answer.fence == fence else None


def seal_bytes(data: bytes, secret: bytes) -> bytes:
    """The seal, then the data."""
    return _seal(data, secret) + data


def try_open_bytes(stored: bytes, secret: bytes) -> bytes | None:
    """What was sealed; None where the seal is not that of the secret."""
    data = stored[SEAL_BYTES:]
    return data if hmac.compare_digest(_seal(data, secret), stored[:SEAL_BYTES]) else None


def _seal(data: bytes, secret: bytes) -> bytes:
    assert len(secret) == SECRET_BYTES
    digest: bytes = blake3(data, key=secret).digest(SEAL_BYTES)
    return digest


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(CachedAnswer)
