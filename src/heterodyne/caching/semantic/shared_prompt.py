"""A prompt that gateways share, sealed together with its answer.

The vector is within the seal: whoever can write into the store may make it find another entry, but how near that is,
what it was asked and what it says are as the gateway wrote them.
"""

from typing import Final

import msgspec
import numpy as np
from blake3 import blake3
from msgspec import Struct

from heterodyne.caching.entry import CachedAnswer, seal_bytes, try_open_bytes
from heterodyne.caching.semantic.index import Vector
from heterodyne.caching.semantic.reading import TEXT_CHARS_MAX


class SharedPrompt(Struct, frozen=True, kw_only=True):
    """What was asked, where it lies among other prompts, and what the answer was."""

    fence: bytes
    text: str
    halves: bytes  # the vector in 16 bits a dimension
    answer: CachedAnswer

    @property
    def vector(self) -> Vector:
        """Where it lies."""
        lies: Vector = np.frombuffer(self.halves, np.float16).astype(np.float32)
        return lies


def shared_prompt(fence: bytes, text: str, vector: Vector, answer: CachedAnswer) -> SharedPrompt:
    """Of a long prompt as much as a reading takes."""
    if len(text) > TEXT_CHARS_MAX:
        text = text[: TEXT_CHARS_MAX // 2] + " " + text[-TEXT_CHARS_MAX // 2 :]
    return SharedPrompt(fence=fence, text=text, halves=vector.astype(np.float16).tobytes(), answer=answer)


def shared_fence(fence: bytes, embedding_model: str) -> bytes:
    """Vectors of two models are never compared either."""
    digest: bytes = blake3(embedding_model.encode(), key=fence).digest()
    return digest


def seal_prompt(prompt: SharedPrompt, secret: bytes) -> bytes:
    """The bytes to store."""
    return seal_bytes(_ENCODER.encode(prompt), secret)


def try_open_prompt(stored: bytes, secret: bytes, *, fence: bytes, tenant: bytes) -> SharedPrompt | None:
    """The prompt in stored bytes; None where they were cut, changed, or belong to another fence or tenant."""
    data = try_open_bytes(stored, secret)
    if data is None:
        return None
    prompt = _DECODER.decode(data)
    return prompt if prompt.fence == fence and prompt.answer.fence == tenant else None


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(SharedPrompt)
