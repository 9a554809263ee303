"""Settings of the weight cache, and the terms of one fetch that follow from them."""

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

    models_dir: Annotated[
        str | None,
        Meta(description="Folder of the registry's models; absent, `heterodyne/models` in the user's data folder."),
    ] = None
    blobs_url: Annotated[
        str | None,
        Meta(
            description="Where the registry's files are kept for all machines, as in s3://bucket/models or "
            "file:///mnt/models (through fsspec); absent, in models_dir."
        ),
    ] = None
    local_max_gib: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        Meta(description="How much of blobs_url is kept in models_dir; absent, all that was ever loaded."),
    ] = None
    ram_dir: Annotated[
        str | None,
        Meta(description="Folder in memory, as in /mnt/ram, that engines load weights from."),
    ] = None
    ram_max_gib: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        Meta(description="How much is kept in ram_dir; absent, as much as there is room for."),
    ] = None
    pins: Annotated[
        tuple[str, ...],
        Meta(description="Versions, as in smollm2-135m@v1, that stay on this machine; those of pools do anyway."),
    ] = ()
    readers_max: Annotated[
        int, Meta(ge=1, le=256, description="Ranges of a file that are read at once from blobs_url or a disk.")
    ] = 8
    trusted_keys: Annotated[
        tuple[Annotated[str, Meta(pattern="^[0-9a-f]{64}$")], ...],
        Meta(description="Public ed25519 keys, in hexadecimal, whose signatures of artifacts count."),
    ] = ()
    signatures_required: Annotated[
        bool,
        Meta(description="Whether an artifact must be signed by a trusted key to be served, built from or exported."),
    ] = False
    parity_required: Annotated[
        bool,
        Meta(
            description="Whether a build must have passed `heterodyne parity` to be served; one that failed never is."
        ),
    ] = False


class FetchTerms(Struct, frozen=True, kw_only=True):
    """What a source gets beside the reference: the declared hash, and how long to try."""

    sha256: str | None  # None when the operator declared none
    timeout_s: float
    attempts_max: int


def fetch_terms(sha256: str | None, settings: RegistrySettings) -> FetchTerms:
    """The terms of one weight URI under these settings."""
    return FetchTerms(sha256=sha256, timeout_s=settings.download_timeout_s, attempts_max=settings.download_attempts_max)
