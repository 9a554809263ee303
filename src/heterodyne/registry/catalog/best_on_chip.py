"""Which artifact of a version is best on a chip, and why: a token alone takes as long as its weights to be read."""

from collections.abc import Iterable, Sequence

from heterodyne.domain.artifact import ANY_HARDWARE, Artifact, WeightFormat
from heterodyne.physics.hardware import Accelerator
from heterodyne.physics.precision import BYTES, Precision
from heterodyne.registry.catalog.affinity import FORMATS
from heterodyne.registry.catalog.facts import AffinityRow, BestOnChip

ROOM = 1.2  # of what weights take, with a little KV
USUAL_CHIPS = ("h100-sxm", "mi300x", "tpu-v6e", "cpu-x86")


def best_on_chip(artifacts: Iterable[Artifact], chip: Accelerator, affinity: Sequence[AffinityRow]) -> BestOnChip:
    """Of the artifacts that are there; what would be better is named where it can be built."""
    found = list(artifacts)
    obstacles = {_name(one.format, one.precision): _obstacle(one, chip) for one in found}
    able = [one for one in found if obstacles[_name(one.format, one.precision)] is None]
    if not able:
        said = "; ".join(f"{name} {why}" for name, why in obstacles.items())
        return BestOnChip(chip=chip.name, best=None, why=said or "there are no artifacts")
    best = min(able, key=lambda one: one.size_bytes)
    why = f"{best.size_bytes / 1e9:.2f} GB a token at {chip.memory_bytes_per_s / 1e12:.2f} TB/s"
    if better := _try_better(best, chip, affinity):
        why += f"; {better}"
    return BestOnChip(
        chip=chip.name,
        best=_name(best.format, best.precision),
        size_bytes=best.size_bytes,
        token_ms=1000 * best.size_bytes / chip.memory_bytes_per_s,
        why=why,
    )


def _obstacle(artifact: Artifact, chip: Accelerator) -> str | None:
    if artifact.format not in _formats(chip):
        return f"has no engine there ({', '.join(chip.engines)})"
    if artifact.hardware not in (ANY_HARDWARE, chip.name):
        return f"is compiled for {artifact.hardware}"
    if not _computes(artifact.format, artifact.precision, chip):
        return "has no units there"
    if artifact.size_bytes * ROOM > chip.memory_bytes:
        return f"does not fit in {chip.memory_bytes / 1e9:.0f} GB"
    return None


def _try_better(best: Artifact, chip: Accelerator, affinity: Sequence[AffinityRow]) -> str | None:
    """The build that would be read soonest, where its bytes are known."""
    now = _bytes_each(best.precision)
    if now is None:
        return None
    wanted = [
        (_name(row.format, precision), each)
        for row in affinity
        if row.format in _formats(chip)
        for precision in row.buildable
        if _computes(row.format, precision, chip) and (each := _bytes_each(precision)) is not None and each < now
    ]
    if not wanted:
        return None
    name, each = min(wanted, key=lambda one: one[1])
    return f"{name} could be built, and take {each / now:.0%} of that"


def _formats(chip: Accelerator) -> set[WeightFormat]:
    return {format for engine in chip.engines for format in FORMATS.get(engine, ())}


def _computes(format: WeightFormat, precision: str, chip: Accelerator) -> bool:
    """llama.cpp widens what it reads; others need units for it, which 32 bits have everywhere."""
    if format is WeightFormat.GGUF or precision == Precision.FP32:
        return True
    sixteen = (Precision.FP16, Precision.BF16)
    known = {str(one) for one in (*chip.precisions, *(sixteen if set(sixteen) & set(chip.precisions) else ()))}
    return precision in known


def _bytes_each(precision: str) -> float | None:
    try:
        return BYTES[Precision(precision)]
    except ValueError:
        return None


def _name(format: WeightFormat, precision: str) -> str:
    return f"{format} {precision}"
