"""Which formats of a version run on which kind of hardware, by which engine: what is there, and what can be built."""

from collections.abc import Iterable

from msgspec import Struct

from heterodyne.domain.artifact import StoredArtifact, WeightFormat
from heterodyne.registry.building.builder import DECODER
from heterodyne.registry.building.catalogue import BUILDERS

# By kind of hardware, the formats that engines load there, those that are made for it first.
ENGINES: dict[str, dict[WeightFormat, tuple[str, ...]]] = {
    "nvidia": {
        WeightFormat.TENSORRT_LLM: ("tensorrt-llm",),
        WeightFormat.SAFETENSORS: ("vllm", "sglang", "tgi", "lmdeploy"),
        WeightFormat.GGUF: ("llamacpp",),
    },
    "amd": {WeightFormat.SAFETENSORS: ("vllm", "sglang", "tgi"), WeightFormat.GGUF: ("llamacpp",)},
    "tpu": {WeightFormat.ORBAX: ("jetstream",), WeightFormat.SAFETENSORS: ("vllm",)},
    "cpu": {
        WeightFormat.GGUF: ("llamacpp", "ollama"),
        WeightFormat.SAFETENSORS: ("vllm",),
        WeightFormat.OPENVINO: ("open_inference",),
    },
}
FORMATS: dict[str, tuple[WeightFormat, ...]] = {
    engine: tuple(
        dict.fromkeys(
            format for formats in ENGINES.values() for format, engines in formats.items() if engine in engines
        )
    )
    for engine in {engine for formats in ENGINES.values() for engines in formats.values() for engine in engines}
}


class AffinityRow(Struct, frozen=True, kw_only=True):
    """One format on one kind of hardware."""

    hardware: str
    format: WeightFormat
    engines: tuple[str, ...]
    there: tuple[str, ...]  # precisions of artifacts
    buildable: tuple[str, ...]  # precisions that a builder makes of what is there


def affinity_of(artifacts: Iterable[StoredArtifact], kind: str = DECODER) -> list[AffinityRow]:
    """The table of one version of a model of this kind."""
    found = [one.artifact for one in artifacts]
    formats = {artifact.format for artifact in found}
    rows = []
    for hardware, by_format in ENGINES.items():
        for format, engines in by_format.items():
            there = tuple(dict.fromkeys(artifact.precision for artifact in found if artifact.format is format))
            made = (
                precision
                for builder in BUILDERS
                if builder.takes in formats and builder.makes is format and kind in builder.kinds
                for precision in builder.precisions
            )
            buildable = tuple(precision for precision in dict.fromkeys(made) if precision not in there)
            rows.append(
                AffinityRow(hardware=hardware, format=format, engines=engines, there=there, buildable=buildable)
            )
    return rows
