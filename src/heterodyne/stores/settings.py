"""Settings of where things are kept."""

from typing import Annotated

from msgspec import Meta, Struct


class StoreSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The database, and the counters that several gateways share."""

    url: Annotated[
        str,
        Meta(
            description="The database of tenants, keys and usage: `sqlite:PATH` or `postgresql://USER@HOST/NAME`; "
            "`sqlite:` alone is a file in the user's state folder. A password is better in PGPASSWORD than here."
        ),
    ] = "sqlite:"
    redis_url: Annotated[
        str | None,
        Meta(description="Redis or Valkey that keeps the limits of several gateways together; unset: in this gateway."),
    ] = None
    cache_url: Annotated[
        str | None,
        Meta(
            description="Redis or Valkey that keeps the answers of `[caches]` for all workers and gateways; unset: "
            "each worker keeps its own. It may be one that forgets under pressure, which that of limits must not be."
        ),
    ] = None
    cache_key_env: Annotated[
        str,
        Meta(
            description="The environment variable with the secret that answers in `cache_url` are sealed with, the "
            "same for all gateways: 16 characters or more."
        ),
    ] = "HETERODYNE_CACHE_KEY"
