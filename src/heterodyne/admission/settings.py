"""Settings of who may ask and how much at once."""

from typing import Annotated

from msgspec import Meta, Struct

KeyDigest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class AdmissionSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Keys and the size of the house."""

    api_keys_sha256: Annotated[
        tuple[KeyDigest, ...],
        Meta(description="SHA-256 digests (hex) of the accepted API keys; empty means keyless, on loopback only."),
    ] = ()
    in_flight_max: Annotated[
        int, Meta(ge=1, description="Requests running at once per worker; one more is answered 503.")
    ] = 1024
    retry_after_s: Annotated[
        int, Meta(ge=1, le=3600, description="What `Retry-After` says when the house is full.")
    ] = 1
