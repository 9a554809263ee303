"""Settings of where things are kept."""

from typing import Annotated

from msgspec import Meta, Struct

CACHE_KEY_VARIABLE = "HETERODYNE_CACHE_KEY"


class StoreSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The database, and the counters that several gateways share."""

    url: Annotated[
        str,
        Meta(
            description="The database of tenants, keys and usage: `sqlite:PATH` or `postgresql://USER@HOST/NAME`; "
            "`sqlite:` alone is a file in the user's state folder. A password is better in PGPASSWORD than here."
        ),
    ] = "sqlite:"
    regions: Annotated[
        tuple[Annotated[str, Meta(min_length=1)], ...],
        Meta(
            description="All regions that the database of `url` is in, with its copies and backups; empty: it is where "
            "the gateway is. A key that is held to other regions can keep no response, conversation, file or batch."
        ),
    ] = ()
    redis_url: Annotated[
        str | None,
        Meta(description="Redis or Valkey that keeps the limits of several gateways together; unset: in this gateway."),
    ] = None
    fleet_url: Annotated[
        str | None,
        Meta(
            description="Redis or Valkey through which gateways that share replicas tell each other what they have in "
            "flight where, which replicas they leave out, what they have learned and which prompt was computed where; "
            "unset: each goes by what it sees itself. No request waits for it. Whoever can write there can steer load: "
            "use `rediss://` and a password."
        ),
    ] = None
    cache_url: Annotated[
        str | None,
        Meta(
            description="Redis or Valkey that keeps the answers of `[caches]` for all workers and gateways; unset: "
            "each worker keeps its own. It may be one that forgets under pressure, which that of limits must not be."
        ),
    ] = None
    prompts_url: Annotated[
        str | None,
        Meta(
            description="PostgreSQL with pgvector 0.8 or newer that keeps the prompts of semantic caches, and their "
            "answers, for all workers and gateways: `postgresql://USER@HOST/NAME`; unset: each worker keeps its own. "
            "A password is better in PGPASSWORD than here."
        ),
    ] = None
    cache_region: Annotated[
        str | None,
        Meta(
            description="The region that `cache_url` and `prompts_url` are in: keys that are held to others neither "
            "keep nor look for anything there, and have each worker's own; unset: they are where the gateway is."
        ),
    ] = None
    cache_key_env: Annotated[
        str,
        Meta(
            description="The environment variable with the secret that answers in `cache_url` and `prompts_url` are "
            "sealed with, the same for all gateways: 16 characters or more."
        ),
    ] = CACHE_KEY_VARIABLE
