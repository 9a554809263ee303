"""What a source has brought: which file is the weights, and whether it is a model still to be converted."""

from pathlib import Path

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.registry.shards import check_shards, shards_of

BERT_FILES = ("config.json", "model.safetensors", "vocab.txt")


class FetchedWeights(Struct, frozen=True, kw_only=True):
    """A fetched file or folder."""

    weight_file: Path  # what an engine is given, or the first of what it finds beside it
    bert_folder: Path | None = None  # None when the weight file can be served as it is
    checkpoint_files: tuple[Path, ...] = ()  # of a model in SafeTensors, its tensors first; empty: it is a GGUF

    @property
    def weight_files(self) -> tuple[Path, ...]:
        """The files whose bytes, one after the other, have the SHA-256 that the operator declares."""
        if self.checkpoint_files:
            return tuple(path for path in self.checkpoint_files if path.suffix == ".safetensors")
        return shards_of(self.weight_file)

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file that must stay as it is for the weights to be the same."""
        if self.checkpoint_files:
            return self.checkpoint_files
        if self.bert_folder is None:
            return self.weight_files
        return tuple(self.bert_folder / name for name in BERT_FILES)


def inspect(path: Path) -> FetchedWeights:
    """Find the weights at `path`, a GGUF file or a folder with one, or with a model in SafeTensors."""
    if path.is_file():
        check_shards(path)
        return FetchedWeights(weight_file=path)
    if is_bert_folder(path):
        return FetchedWeights(weight_file=path / "model.safetensors", bert_folder=path)
    tensors = sorted(path.glob("*.safetensors"))
    if tensors and (path / "config.json").is_file():
        beside = sorted(one for one in path.iterdir() if one.is_file() and one not in tensors)
        return FetchedWeights(weight_file=tensors[0], checkpoint_files=(*tensors, *beside))
    ggufs = sorted(path.glob("*.gguf"))
    if ggufs and (len(ggufs) == 1 or set(ggufs) <= set(shards_of(ggufs[0]))):
        check_shards(ggufs[0])
        return FetchedWeights(weight_file=ggufs[0])
    raise WeightsUnavailable(
        f"weights: {path} holds {len(ggufs)} GGUF files and no model in SafeTensors; name one file, not the folder"
    )


def is_bert_folder(path: Path) -> bool:
    """Whether `path` is a model that `bert_gguf` can convert."""
    if not all((path / name).is_file() for name in BERT_FILES):
        return False
    try:
        config = msgspec.json.decode((path / "config.json").read_bytes(), type=_Config)
    except msgspec.MsgspecError:
        return False
    return config.model_type == "bert"


class _Config(Struct):
    model_type: str = ""
