"""Which formats of a version run on which kind of hardware, by which engine: what is there, and what can be built."""

from collections.abc import Collection, Iterable

from heterodyne.domain.artifact import ModelVersion, StoredArtifact, WeightFormat
from heterodyne.registry.building.builder import Builder, kind_of
from heterodyne.registry.building.catalogue import BUILDERS
from heterodyne.registry.catalog.facts import AffinityRow

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


def affinity_of(version: ModelVersion, artifacts: Iterable[StoredArtifact]) -> list[AffinityRow]:
    """The table of one version."""
    found, kind = [one.artifact for one in artifacts], kind_of(version.facts)
    formats = {artifact.format for artifact in found}
    rows = []
    for hardware, by_format in ENGINES.items():
        for format, engines in by_format.items():
            there = tuple(dict.fromkeys(artifact.precision for artifact in found if artifact.format is format))
            made = _makers(formats, format, kind)
            buildable = tuple(precision for precision in made if precision not in there)
            rows.append(
                AffinityRow(
                    hardware=hardware,
                    format=format,
                    engines=engines,
                    there=there,
                    buildable=buildable,
                    commands=tuple(_command(version, made[one], one) for one in buildable),
                )
            )
    return rows


def _makers(takes: Collection[WeightFormat], makes: WeightFormat, kind: str) -> dict[str, Builder]:
    """By precision, the first that makes it."""
    found: dict[str, Builder] = {}
    for builder in BUILDERS:
        if builder.takes in takes and builder.makes is makes and kind in builder.kinds:
            for precision in builder.precisions:
                found.setdefault(precision, builder)
    return found


def _command(version: ModelVersion, builder: Builder, precision: str) -> str:
    """What an operator types to have it made."""
    chip = " --hardware CHIP" if builder.is_for_one_chip else ""
    return f"heterodyne models build {version.name} --format {builder.makes} --precision {precision}{chip}"
