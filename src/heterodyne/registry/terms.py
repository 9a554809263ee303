"""On what terms weights are fetched: the declared hash and how patient to be."""

from msgspec import Struct

from heterodyne.registry.settings import RegistrySettings


class FetchTerms(Struct, frozen=True, kw_only=True):
    """What every source is told besides the reference."""

    sha256: str | None  # None when the operator declared none
    timeout_s: float
    attempts_max: int


def fetch_terms(sha256: str | None, settings: RegistrySettings) -> FetchTerms:
    """The terms of one weight URI under these settings."""
    return FetchTerms(sha256=sha256, timeout_s=settings.download_timeout_s, attempts_max=settings.download_attempts_max)
