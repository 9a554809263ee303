"""Weights of the registry: a model has immutable versions, a version has artifacts, each made for some hardware."""

from enum import StrEnum
from hashlib import sha256
from typing import NewType

import msgspec
from msgspec import Struct

from heterodyne.domain.parity import ParityVerdict

Digest = NewType("Digest", str)  # SHA-256 of what an artifact is, in hexadecimal
ANY_HARDWARE = "any"
IMPORTED = "import"  # the builder of what came from outside
DIGEST_SHOWN = 12  # signs of a digest that people read


class WeightFormat(StrEnum):
    """What weights are written as."""

    SAFETENSORS = "safetensors"  # the canonical form: what others are built from and judged by
    GGUF = "gguf"
    ORBAX = "orbax"  # of JAX
    TENSORRT_LLM = "tensorrt-llm"
    ONNX = "onnx"
    OPENVINO = "openvino"


class ArtifactFile(Struct, frozen=True, order=True, omit_defaults=True):
    """One file of an artifact."""

    path: str  # relative, with slashes
    size_bytes: int
    sha256: str  # its name among the blobs
    # What it is checked by where it is loaded, at ten times the pace; empty: it was made before there was one.
    blake3: str = ""


class Recipe(Struct, frozen=True, kw_only=True):
    """How an artifact is made; the same recipe gives the same bytes."""

    builder: str
    builder_version: int = 1  # another number where a builder gives other bytes than before
    settings: dict[str, str] = {}
    inputs: tuple[str, ...] = ()  # digests of artifacts; of what was imported, the SHA-256 of its source


class Artifact(Struct, frozen=True, kw_only=True):
    """One version for one kind of hardware, known by what it is made of."""

    model: str
    version: str
    format: WeightFormat
    precision: str
    hardware: str = ANY_HARDWARE  # an accelerator of the catalogue, for what is compiled
    recipe: Recipe
    files: tuple[ArtifactFile, ...]

    @property
    def digest(self) -> Digest:
        """The address of its content: two builds of one recipe that differ in a byte have two."""
        return Digest(sha256(msgspec.json.encode(self, order="deterministic")).hexdigest())

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)

    @property
    def name(self) -> str:
        """As people read it: `smollm2-135m@v1 gguf q8_0`."""
        hardware = "" if self.hardware == ANY_HARDWARE else f" {self.hardware}"
        return f"{self.model}@{self.version} {self.format} {self.precision}{hardware}"


class ArtifactProvenance(Struct, frozen=True, kw_only=True):
    """When and with what an artifact was made; no part of its digest, for that would make equal bytes differ."""

    at: float  # seconds since the epoch
    took_s: float = 0.0
    tools: dict[str, str] = {}  # versions by name
    machine: str = ""  # architecture and system


class Signature(Struct, frozen=True, kw_only=True):
    """Somebody vouches for an artifact."""

    key_id: str  # the first signs of the public key's SHA-256
    signature: str  # ed25519, of the digest, in hexadecimal
    at: float


class WeightTier(StrEnum):
    """Where weights are read from, the slowest first."""

    OBJECT_STORE = "object store"
    DISK = "disk"


class ArtifactLoad(Struct, frozen=True, kw_only=True):
    """How long an artifact took from one tier to the next: what a new replica waits for before its engine starts."""

    tier: WeightTier
    size_bytes: int
    took_s: float
    at: float  # seconds since the epoch


class StoredArtifact(Struct, frozen=True, kw_only=True):
    """An artifact as the registry keeps it."""

    artifact: Artifact
    provenance: ArtifactProvenance
    signatures: tuple[Signature, ...] = ()
    verdicts: tuple[ParityVerdict, ...] = ()
    loads: tuple[ArtifactLoad, ...] = ()  # the latest from each tier


class ModelVersion(Struct, frozen=True, kw_only=True):
    """Weights that never change. Another file is another version."""

    model: str
    version: str
    source: str  # the URI it was imported from, without secrets
    source_sha256: str  # of its files
    created_at: float
    licence: str | None = None  # an SPDX expression; None: nobody said
    facts: dict[str, str] = {}  # of its model card and config, for people

    @property
    def name(self) -> str:
        return f"{self.model}@{self.version}"
