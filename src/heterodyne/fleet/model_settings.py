"""Settings of a model: which pools serve it, what else it is called, and who answers in its place."""

from typing import Annotated

from msgspec import Meta, Struct


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
