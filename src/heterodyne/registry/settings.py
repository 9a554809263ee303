"""Settings of the weight cache."""

from typing import Annotated

from msgspec import Meta, Struct


class RegistrySettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where weights are kept."""

    cache_dir: Annotated[
        str | None,
        Meta(description="Folder of downloaded weights; absent, `heterodyne` in the user's cache folder."),
    ] = None
    download_timeout_s: Annotated[
        float,
        Meta(gt=0, description="A download that receives nothing for this long is retried, then given up."),
    ] = 60.0
    download_attempts_max: Annotated[
        int, Meta(ge=1, le=100, description="Times a broken download is resumed before it is given up.")
    ] = 5
