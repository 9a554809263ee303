"""How long artifacts take to load, in words."""

from collections.abc import Iterable

from heterodyne.domain.artifact import ArtifactLoad


def loads_in_words(loads: Iterable[ArtifactLoad]) -> str:
    """From each tier that it was ever brought from."""
    return "; ".join(_words(load) for load in loads) or "-"


def _words(load: ArtifactLoad) -> str:
    rate = load.size_bytes / max(load.took_s, 1e-6) / 1e6
    return f"{load.tier} {load.took_s:.1f} s, {rate:.0f} MB/s"
