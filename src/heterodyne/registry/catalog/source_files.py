"""What is imported of a file or a folder: weights, config, tokenizer and model card, and nothing that runs."""

from fnmatch import fnmatch
from pathlib import Path

from msgspec import Struct

from heterodyne.domain.artifact import WeightFormat
from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.registry.conversion.compressed_tensors import precision_of_eight_bits
from heterodyne.registry.conversion.decoders import open_gguf, open_safetensors
from heterodyne.registry.families.decoder_shape import DecoderShape
from heterodyne.registry.fetched_weights import is_bert_folder
from heterodyne.registry.gguf.precision import NAMED
from heterodyne.registry.tensors.checkpoint import CONFIG, INDEX, Checkpoint, open_checkpoint
from heterodyne.registry.tensors.eight_bits import SCALE
from heterodyne.registry.tensors.number_formats import PRECISIONS

BESIDE = (
    "config.json",
    "generation_config.json",
    "tokenizer*.json",
    "tokenizer.model",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.*",
    "merges.txt",
    "chat_template.*",
    "README.md",
    "LICENSE*",
    "modules.json",
    "sentence_bert_config.json",
)
MIXED = "mixed"


class SourceFiles(Struct, frozen=True, kw_only=True):
    """What was found, and what it says of itself."""

    folder: Path
    paths: tuple[Path, ...]
    format: WeightFormat
    precision: str
    facts: dict[str, str]
    licence: str | None


def inspect_source(path: Path) -> SourceFiles:
    """Looks at everything that can be wrong with a file or a folder before it is a version; raises it."""
    if path.is_file() and path.suffix == ".gguf":
        return _gguf(path)
    folder = path.parent if path.is_file() else path
    if not folder.is_dir():
        raise WeightsUnavailable(f"{path}: is not there")
    ggufs = sorted(folder.glob("*.gguf"))
    if len(ggufs) == 1 and not (folder / CONFIG).is_file():
        return _gguf(ggufs[0])
    return _safetensors(folder)


def _gguf(path: Path) -> SourceFiles:
    decoder = open_gguf(path)
    fields = decoder.file.fields
    licence = fields.get("general.license")
    return SourceFiles(
        folder=path.parent,
        paths=(path,),
        format=WeightFormat.GGUF,
        precision=NAMED.get(_whole(fields.get("general.file_type")), MIXED),
        facts=_facts(decoder.family.name, decoder.shape),
        licence=licence if isinstance(licence, str) else None,
    )


def _safetensors(folder: Path) -> SourceFiles:
    if is_bert_folder(folder):
        checkpoint, facts = open_checkpoint(folder), {"family": "bert"}
    else:
        decoder = open_safetensors(folder)
        checkpoint, facts = decoder.checkpoint, _facts(decoder.family.name, decoder.shape)
    beside = (
        path for path in folder.iterdir() if path.is_file() and any(fnmatch(path.name, pattern) for pattern in BESIDE)
    )
    index = (folder / INDEX,) if (folder / INDEX).is_file() else ()
    return SourceFiles(
        folder=folder,
        paths=tuple(sorted({*checkpoint.files, *index, *beside})),
        format=WeightFormat.SAFETENSORS,
        precision=_precision(checkpoint),
        facts=facts | {"parameters": str(_parameters(checkpoint))},
        licence=_licence(folder / "README.md"),
    )


def _facts(family: str, shape: DecoderShape) -> dict[str, str]:
    return {
        "family": family,
        "layers": str(shape.layers),
        "hidden": str(shape.hidden),
        "context_tokens": str(shape.context_tokens),
        "vocabulary": str(shape.vocabulary),
    }


def _precision(checkpoint: Checkpoint) -> str:
    if (eight := precision_of_eight_bits(checkpoint)) is not None:
        return eight
    kinds = {checkpoint.place(name).dtype for name in checkpoint.names} & PRECISIONS.keys()
    return PRECISIONS[kinds.pop()] if len(kinds) == 1 else MIXED


def _parameters(checkpoint: Checkpoint) -> int:
    total = 0
    for name in checkpoint.names:
        if name.endswith(SCALE):  # says what parameters are, and is none
            continue
        count = 1
        for length in checkpoint.place(name).shape:
            count *= length
        total += count
    return total


def _licence(card: Path) -> str | None:
    """What the model card says at its beginning, between two lines of dashes."""
    try:
        opening, *rest = card.read_text(encoding="utf-8", errors="replace").split("---", 2)
    except OSError:
        return None
    if opening.strip() or not rest:
        return None
    said = (line.partition(":") for line in rest[0].splitlines())
    return next((value.strip() for name, _, value in said if name.strip() == "license" and value.strip()), None)


def _whole(value: object) -> int:
    return value if isinstance(value, int) else -1
