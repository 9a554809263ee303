"""Settings of what a pool's engines do with KV beyond keeping it: exchange, store, hand over, and tell of it."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from heterodyne.fleet.platform_settings import PlacedPoolSettings

KvTransferName = Literal["nixl", "sglang", "slots", "example", "lmcache", "trtllm", "dynamo"]


class KvPoolSettings(PlacedPoolSettings, Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which part of a request the replicas do, and where the KV of a prompt may come from and go to."""

    role: Annotated[
        Literal["both", "prefill", "decode"],
        Meta(
            description="What the replicas do for a request: all of it, its prompt alone, whose KV goes to another "
            "replica that answers, or answers alone, to prompts that others have computed."
        ),
    ] = "both"
    kv_transfer: Annotated[
        KvTransferName | None,
        Meta(
            description="How their engines exchange KV: `nixl`, `example` (vLLM), `lmcache` (vLLM, SGLang), `sglang`, "
            "`slots` (llama.cpp), `trtllm` (TensorRT-LLM), `dynamo`. Absent, they do not."
        ),
    ] = None
    kv_store: Annotated[
        str | None,
        Meta(
            description="The store of `kv_stores` that their engines read and write by themselves, with all pools that "
            "name it and hold KV alike; absent, none."
        ),
    ] = None
    kv_host_gb: Annotated[
        float,
        Meta(ge=0, description="10^9 bytes of its host that one replica keeps what its own memory has no room for in."),
    ] = 0.0
    kv_block_tokens: Annotated[
        Annotated[int, Meta(ge=1, le=4096)] | None,
        Meta(description="Tokens of one block of KV, where the engines were not started with their usual ones."),
    ] = None
    kv_link: Annotated[
        str | None,
        Meta(
            description="The accelerator whose own link joins the replicas: with `kv_transfer`, how fast KV should "
            "move, until that is measured; without, their engines fetch KV from each other by themselves. Absent, a "
            "link of 10 Gbit/s, or none."
        ),
    ] = None
    kv_warm_up: Annotated[
        int,
        Meta(
            ge=0,
            le=64,
            description="Prompts, of those that its model was sent most lately, that every gateway worker asks a new "
            "replica for one token of before it is given work, so that it does not begin with an empty cache. Workers "
            "keep up to 256 prompts in memory for it; 0 keeps and asks none.",
        ),
    ] = 0
    kv_warm_up_s: Annotated[
        float,
        Meta(gt=0, le=300, description="How long that may keep a replica from being given work, all prompts together."),
    ] = 10.0
    kv_prefetch: Annotated[
        bool,
        Meta(
            description="Whether the slot of a conversation that was saved is restored shortly before its next turn is "
            "likely, by the pauses before its earlier turns: into a slot that nobody needs, on a replica that has "
            'nothing else to do. For `kv_transfer = "slots"`.'
        ),
    ] = False
    kv_events: Annotated[
        tuple[str, ...],
        Meta(
            description="Where vLLM or SGLang replicas publish KV events: one `tcp://{host}:5557` for all of them, "
            "`{host}` being that of a replica's URL, or one for each of `urls`."
        ),
    ] = ()
    kv_events_replay: Annotated[
        tuple[str, ...],
        Meta(description="Where lost KV events can be asked for again, in the same form; absent, they cannot."),
    ] = ()
    kv_events_ranks: Annotated[
        int,
        Meta(
            ge=1,
            le=256,
            description="Data-parallel ranks of a replica; each publishes its KV events one port above the last.",
        ),
    ] = 1


class KvStoreSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A place outside of engines where replicas leave KV for each other: what it holds, how fast, at what price."""

    medium: Annotated[
        Literal["memory", "disk", "redis", "object"],
        Meta(
            description="What it is: memory of a host, its disk, a Redis, or an object store. What is not said below "
            "is taken to be usual of it."
        ),
    ]
    capacity_gb: Annotated[float, Meta(gt=0, description="How much it holds, in 10^9 bytes; the least worth goes.")]
    regions: Annotated[
        tuple[Annotated[str, Meta(min_length=1)], ...],
        Meta(
            description="All regions that it keeps KV in; empty: where the replicas are that use it. A key that is "
            "held to other regions is not answered by replicas of pools that name it."
        ),
    ] = ()
    path: Annotated[
        str | None,
        Meta(
            description="Folder of a disk store that llama.cpp replicas save slots to (`kv_transfer` slots); replicas "
            "that already run were started with it as `--slot-save-path`, and it is nobody else's."
        ),
    ] = None
    bytes_per_s: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        Meta(description="How fast one replica reads from it, at first: every read corrects it. Absent, as usual."),
    ] = None
    latency_ms: Annotated[
        Annotated[float, Meta(ge=0)] | None, Meta(description="What any read takes, however short; corrected, too.")
    ] = None
    ttl_s: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        Meta(description="How long it keeps what nobody has wanted; absent, until there is no room."),
    ] = None
    usd_per_gb_hour: Annotated[
        float, Meta(ge=0, description="What keeping 10^9 bytes for an hour costs: what saves less is not kept.")
    ] = 0.0
