"""How much and how long a client may take before its request is understood, and the refusals beyond that."""

from typing import Protocol

from msgspec import Struct

from heterodyne.domain.errors import BodyTooLarge, HeadTooLarge


class WireLimits(Struct, frozen=True, kw_only=True):
    """Sizes in bytes, times in seconds; of one port."""

    connections_max: int = 4096
    head_bytes_max: int = 32768
    headers_max: int = 100
    body_bytes_max: int = 32 << 20
    bodies_bytes_max: int = 512 << 20
    head_timeout_s: float = 10.0
    body_timeout_s: float = 60.0
    idle_timeout_s: float = 75.0
    write_timeout_s: float = 60.0
    linger_timeout_s: float = 2.0
    pipeline_max: int = 16


class BodyBudget(Protocol):
    """How many body bytes all connections of a worker hold."""

    body_bytes: int


def head_size(url: bytes, headers: dict[bytes, bytes]) -> int:
    """The bytes of what was understood of a head, or of trailers."""
    return len(url) + sum(map(len, headers)) + sum(map(len, headers.values()))


def is_head_large(url: bytes, headers: dict[bytes, bytes], limits: WireLimits) -> bool:
    """Whether what was understood of a head, or of trailers, is more than there may be."""
    return len(headers) > limits.headers_max or head_size(url, headers) > limits.head_bytes_max


def head_too_large(limits: WireLimits) -> HeadTooLarge:
    """Of a head, of trailers, or of the framing of a chunked body."""
    return HeadTooLarge(
        f"The head, or what frames the body, is over {limits.head_bytes_max} bytes or {limits.headers_max} headers."
    )


def body_too_large(seen_bytes: int, bytes_max: int) -> BodyTooLarge:
    """Of one body."""
    return BodyTooLarge(f"The body has at least {seen_bytes} bytes; the limit is {bytes_max} bytes.")
