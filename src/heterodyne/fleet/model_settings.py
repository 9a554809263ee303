"""Settings of a model: which pools serve it, how its requests are placed, and who answers in its place."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from heterodyne.fleet.settings import EngineName

GIB = 1 << 30

Milliseconds = Annotated[float, Meta(gt=0, le=3_600_000)]


class ModelSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One model of the pools. A model without this section is served by every pool that names it."""

    pools: Annotated[
        tuple[str, ...] | None, Meta(description="Pools that serve it; absent, every pool with this model.")
    ] = None
    aliases: Annotated[tuple[str, ...], Meta(description="Other names clients may ask for it by.")] = ()
    fallbacks: Annotated[
        tuple[str, ...],
        Meta(description="Models that answer in its place, in this order, when no replica of it can."),
    ] = ()
    context_tokens: Annotated[
        Annotated[int, Meta(ge=16)] | None,
        Meta(description="Longest sequence clients may ask for; absent, what its replicas allow."),
    ] = None
    regions_only: Annotated[
        tuple[str, ...], Meta(description="Regions it may be served from; empty, from everywhere.")
    ] = ()
    regions_first: Annotated[
        tuple[str, ...], Meta(description="Regions to serve it from while they can, the first one first.")
    ] = ()
    policy: Annotated[
        str,
        Meta(
            description="What a replica is chosen by: `slo` (the fastest that keeps the promise), `cost` (the cheapest "
            "that does), `affinity` (a preferred one that does), `load` (an even spread), `mix` (`slo`, `cost` and "
            "`load` weighed), or another system's rule, as `heterodyne simulate` knows them."
        ),
    ] = "slo"
    policy_override: Annotated[
        bool, Meta(description="Whether a request may ask for another policy and another SLO in its headers.")
    ] = True
    slo_ttft_ms: Annotated[
        Milliseconds | None,
        Meta(description="The time to the first token that is promised; absent, none is, and sooner is better."),
    ] = None
    slo_itl_ms: Annotated[
        Milliseconds | None, Meta(description="The time between two tokens that is promised; absent, none is.")
    ] = None
    fallbacks_when_late: Annotated[
        tuple[str, ...],
        Meta(description="Models that answer in its place, in this order, when none of its replicas would in time."),
    ] = ()
    degrade: Annotated[
        dict[str, str],
        Meta(
            description="By tier (`gold`, `silver`, `bronze`), the smaller model that answers in its place when a "
            "request of that tier would be refused because its replicas and their queue are full."
        ),
    ] = {}
    kv: Annotated[
        Literal["stateless", "sticky", "prefix", "store", "split", "auto"],
        Meta(
            description="What is made of prompts that a replica may still hold: nothing, a conversation stays where it "
            "was, or a prompt goes where its beginning is if that pays; `store` also brings it from other replicas, "
            "host memory and stores, `split` has one replica compute it for another, `auto` does whatever is best."
        ),
    ] = "prefix"
    kv_shared: Annotated[
        bool,
        Meta(
            description="Whether one project's prompt may be answered with KV that another's has left in an engine: "
            "quicker where all begin alike, but how soon an answer begins tells whether somebody has asked the same."
        ),
    ] = False
    prefer_hardware: Annotated[
        tuple[str, ...], Meta(description="Accelerators that policy `affinity` prefers, any of them.")
    ] = ()
    prefer_labels: Annotated[
        dict[str, str], Meta(description="Labels of pools that policy `affinity` prefers, all of them.")
    ] = {}
    mix: Annotated[
        dict[str, Annotated[float, Meta(ge=0)]],
        Meta(description="For policy `mix`, the weights of `slo`, `cost` and `load`; empty, even `slo` and `cost`."),
    ] = {}
    require_hardware: Annotated[
        tuple[str, ...], Meta(description="Accelerators it may be served on; empty, on any.")
    ] = ()
    require_engines: Annotated[
        tuple[EngineName, ...], Meta(description="Engines it may be served by; empty, by any.")
    ] = ()
    require_labels: Annotated[
        dict[str, str], Meta(description="Labels that a pool must have, all of them, to serve it.")
    ] = {}
    require_memory_gib_min: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        Meta(
            description="Memory a replica must have, all its chips together, as `heterodyne hardware list` counts it: "
            "an H100 of 80 GB has 79.18 GiB."
        ),
    ] = None

    @property
    def require_memory_bytes_min(self) -> int | None:
        """The same in bytes. Tables show hundredths, so what they show is enough though there be a little less."""
        gib = self.require_memory_gib_min
        return None if gib is None else int((gib - 0.005) * GIB)
