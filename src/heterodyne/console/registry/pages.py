"""The registry as an operator sees it."""

from msgspec import Struct

from heterodyne.registry.catalog.facts import Verified, VersionFacts, VersionSummary


class RegistryPage(Struct, frozen=True, kw_only=True):
    """Versions by model, the newest of each first."""

    versions: tuple[VersionSummary, ...]
    total: int  # that match
    is_cut: bool  # whether some of them are left out


class RegistryVersionPage(Struct, frozen=True, kw_only=True):
    """One version of a model, and which others there are."""

    shown: VersionFacts
    versions: tuple[str, ...]  # of the same model, the newest first


class VerifiedPage(Struct, frozen=True, kw_only=True):
    """What was found where every byte of a version's artifacts was read."""

    artifacts: tuple[Verified, ...]
