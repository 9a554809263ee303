"""How much and how long a client may take before its request is understood."""

from msgspec import Struct


class WireLimits(Struct, frozen=True, kw_only=True):
    """Sizes in bytes, times in seconds."""

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
