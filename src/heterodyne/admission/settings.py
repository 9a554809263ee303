"""Settings of who may ask and how much at once."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

KeyDigest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class AdmissionSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Keys and the size of the house."""

    api_keys_sha256: Annotated[
        tuple[KeyDigest, ...],
        Meta(description="SHA-256 digests (hex) of the accepted API keys; empty means keyless, on loopback only."),
    ] = ()
    requires_key: Annotated[
        bool,
        Meta(
            description="Whether nobody is served without a key, even where none was made yet. As soon as there are "
            "keys, here or made with `heterodyne keys create`, one is required anyway."
        ),
    ] = False
    certificates: Annotated[
        dict[Annotated[str, Meta(min_length=1)], Annotated[str, Meta(min_length=1)]],
        Meta(
            description="By a name in a client's certificate (`spiffe://prod/search/*`, a DNS name or an e-mail "
            "address; `*` at the end is anything), the id of the key that it stands for where a request brings none. "
            "Needs `gateway.tls_client_authorities`."
        ),
    ] = {}
    in_flight_max: Annotated[
        int, Meta(ge=1, description="Requests running at once per worker; one more is answered 503.")
    ] = 1024
    queue_max: Annotated[
        int,
        Meta(
            ge=0,
            le=100_000,
            description="Requests of one class that may wait for one model, per worker, while its replicas are full; "
            "0 lets them queue in the engines, where nobody is fair.",
        ),
    ] = 256
    tenant_queue_max: Annotated[
        int, Meta(ge=1, le=100_000, description="Of these, requests of one tenant; one more is answered 503.")
    ] = 128
    queue_order: Annotated[
        Literal["fair", "prefix"],
        Meta(
            description="Who of a class goes first: `fair` gives tenants equal service by their weights, `prefix` "
            "also prefers, within what is fair, prompts that a replica still holds."
        ),
    ] = "fair"
    kv_share_max: Annotated[
        float, Meta(gt=0, le=1, description="Of a model's KV memory, what one tenant may hold while others wait.")
    ] = 0.5
    context_tokens_by_tier: Annotated[
        dict[str, Annotated[int, Meta(ge=1)]],
        Meta(
            description="By tier (`gold`, `silver`, `bronze`), the longest prompt and answer together that may be "
            "asked for; a tier that is not named has none of its own."
        ),
    ] = {}
    limits_when_unreachable: Annotated[
        Literal["open", "closed"],
        Meta(
            description="While the counters of limits cannot be reached: `open` lets each worker allow its part of "
            "every limit, `closed` refuses what its leases do not cover."
        ),
    ] = "open"
    retry_after_s: Annotated[
        int, Meta(ge=1, le=3600, description="What `Retry-After` says when the house is full.")
    ] = 1
