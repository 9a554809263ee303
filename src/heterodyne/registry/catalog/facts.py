"""What people are told of the registry. Values alone: whoever shows them need not load what builds artifacts."""

from enum import StrEnum

from msgspec import Struct

from heterodyne.domain.artifact import ArtifactLoad, WeightFormat


class ParityState(StrEnum):
    """Whether an artifact says what its canonical parent says."""

    PASSED = "passed"
    FAILED = "failed"
    UNJUDGED = "unjudged"


class ArtifactFacts(Struct, frozen=True, kw_only=True):
    """One artifact."""

    format: WeightFormat
    precision: str
    hardware: str  # any, or the chip that it is compiled for
    digest: str
    size_bytes: int
    files: int
    builder: str
    made_at: float  # seconds since the epoch
    parity: ParityState
    parity_why: str  # the first breach, where it failed
    signed_by: tuple[str, ...]  # trusted keys whose signatures hold
    signatures: int  # of any key
    pools: tuple[str, ...]  # that load it
    loads: tuple[ArtifactLoad, ...]  # the latest from each tier


class VersionSummary(Struct, frozen=True, kw_only=True):
    """One version with its artifacts."""

    name: str  # model@version
    model: str
    version: str
    source: str
    licence: str | None  # None: nobody said
    created_at: float
    size_bytes: int
    artifacts: tuple[ArtifactFacts, ...]


class AffinityRow(Struct, frozen=True, kw_only=True):
    """One format on one kind of hardware."""

    hardware: str
    format: WeightFormat
    engines: tuple[str, ...]
    there: tuple[str, ...]  # precisions of artifacts
    buildable: tuple[str, ...]  # precisions that a builder makes of what is there
    commands: tuple[str, ...] = ()  # that make them, in the same order


class BestOnChip(Struct, frozen=True, kw_only=True):
    """One chip."""

    chip: str
    best: str | None  # format and precision; None: none of those there runs on it
    size_bytes: int = 0
    token_ms: float = 0.0  # at most so fast, one sequence alone
    why: str = ""


class VersionFacts(Struct, frozen=True, kw_only=True):
    """One version, what runs where, and what is best there."""

    summary: VersionSummary
    source_sha256: str
    card: dict[str, str]  # of its model card and config
    affinity: tuple[AffinityRow, ...]
    best: tuple[BestOnChip, ...]


class Verified(Struct, frozen=True, kw_only=True):
    """One artifact whose bytes were read."""

    name: str
    digest: str
    problem: str | None  # None: every byte is right
    signed_by: tuple[str, ...] = ()  # keys whose signatures hold


class Collected(Struct, frozen=True, kw_only=True):
    """What was removed, or would be."""

    blobs: int = 0
    builds: int = 0
    served: int = 0  # folders of artifacts that are gone
