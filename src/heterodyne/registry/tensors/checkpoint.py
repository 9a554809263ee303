"""A folder with a model in SafeTensors, as Hugging Face lays it out: `config.json` and one file of tensors or several.

Only numbers and text are read. Pickled weights run code when they are loaded, so a folder with nothing else is refused;
so is Python beside the weights, which is never run.
"""

from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np
from msgspec import Struct

from heterodyne.domain.errors import WeightsCorrupt, WeightsUnavailable
from heterodyne.registry.tensors.eight_bits import BY_DTYPE, SCALE, dequantised_rows
from heterodyne.registry.tensors.number_formats import NUMPY, to_float32
from heterodyne.registry.tensors.safetensors_head import TensorPlace, read_safetensors_head

CONFIG = "config.json"
WHOLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")

T = TypeVar("T")


class _Index(Struct, frozen=True):
    weight_map: dict[str, str]


class Checkpoint:
    """One folder, opened: its heads are read, its tensors are not."""

    def __init__(self, folder: Path, config: dict[str, object], places: dict[str, tuple[Path, TensorPlace]]) -> None:
        self.folder = folder
        self.config = config
        self._places = places

    def __contains__(self, name: object) -> bool:
        return name in self._places

    @property
    def names(self) -> tuple[str, ...]:
        """Of all tensors."""
        return tuple(self._places)

    @property
    def files(self) -> tuple[Path, ...]:
        """That hold tensors."""
        return tuple(dict.fromkeys(path for path, _ in self._places.values()))

    def place(self, name: str) -> TensorPlace:
        """What is known of a tensor without its numbers."""
        return self._places[name][1]

    def stored(self, name: str) -> np.ndarray:
        """The numbers as they are stored, read when they are looked at."""
        path, place = self._places[name]
        kind = NUMPY[place.dtype]
        count = (place.end - place.start) // kind.itemsize
        if not count:
            return np.empty(place.shape, kind)
        return np.memmap(path, kind, "r", place.start, (count,)).reshape(place.shape)

    def values(self, name: str) -> np.ndarray:
        """The values in 32 bits; those stored in eight are multiplied by their scales."""
        dtype = self.place(name).dtype
        if dtype in BY_DTYPE and name + SCALE in self:
            return dequantised_rows(self.stored(name), BY_DTYPE[dtype], self.values(name + SCALE))
        return to_float32(self.stored(name), dtype)


def open_checkpoint(folder: Path) -> Checkpoint:
    """Raises what is missing or wrong, with the file and the tensor."""
    config = _read_json(folder / CONFIG, dict[str, object])
    index_path = folder / INDEX
    if index_path.is_file():
        return Checkpoint(folder, config, _sharded(folder, _read_json(index_path, _Index).weight_map))
    if not (folder / WHOLE).is_file():
        raise WeightsUnavailable(_nothing_in(folder))
    path = folder / WHOLE
    return Checkpoint(folder, config, {name: (path, place) for name, place in read_safetensors_head(path).items()})


def _sharded(folder: Path, weight_map: dict[str, str]) -> dict[str, tuple[Path, TensorPlace]]:
    places: dict[str, tuple[Path, TensorPlace]] = {}
    for shard in sorted(set(weight_map.values())):
        if Path(shard).name != shard:
            raise WeightsCorrupt(f'{folder / INDEX}: names "{shard}", which is not a file beside it')
        path = folder / shard
        if not path.is_file():
            raise WeightsUnavailable(f"{path}: is named in {INDEX} and is not there")
        found = read_safetensors_head(path)
        wanted = {name for name, where in weight_map.items() if where == shard}
        if missing := sorted(wanted - found.keys()):
            raise WeightsCorrupt(f'{path}: has no tensor "{missing[0]}", which {INDEX} says it has')
        if unnamed := sorted(found.keys() - wanted):
            raise WeightsCorrupt(f'{path}: has a tensor "{unnamed[0]}", which {INDEX} does not name')
        places |= {name: (path, place) for name, place in found.items()}
    return places


def _nothing_in(folder: Path) -> str:
    pickled = sorted(path.name for path in folder.glob("*") if path.suffix in PICKLED)
    if pickled:
        return (
            f"{folder / pickled[0]}: is a pickle, which runs code when it is loaded; save the model as SafeTensors "
            f"({WHOLE}) and name that"
        )
    return f"{folder}: has no {WHOLE} and no {INDEX}"


def _read_json(path: Path, shape: type[T]) -> T:
    try:
        return msgspec.json.decode(path.read_bytes(), type=shape)
    except FileNotFoundError as error:
        raise WeightsUnavailable(f"{path}: is not there") from error
    except OSError as error:
        raise WeightsUnavailable(f"{path}: cannot be read: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise WeightsCorrupt(f"{path}: {error}") from error
