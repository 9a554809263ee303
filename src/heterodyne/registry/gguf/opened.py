"""A GGUF file, opened: its fields, and its tensors as numbers."""

from pathlib import Path

import gguf
import numpy as np

from heterodyne.domain.errors import WeightsCorrupt, WeightsUnavailable
from heterodyne.registry.gguf.head import read_gguf_head


class GgufFile:
    """Opened: tensors are read when they are looked at."""

    def __init__(self, path: Path) -> None:
        """Raises where it cannot be read, or was cut."""
        read_gguf_head(path)  # a cut or foreign file is refused here, with words
        try:
            reader = gguf.GGUFReader(path)
        except OSError as error:
            raise WeightsUnavailable(f"{path}: cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, IndexError) as error:
            raise WeightsCorrupt(f"{path}: is not a readable GGUF file, or was cut: {error}") from error
        self.path = path
        self.fields: dict[str, object] = {name: field.contents() for name, field in reader.fields.items()}
        self._tensors = {tensor.name: tensor for tensor in reader.tensors}

    @property
    def names(self) -> tuple[str, ...]:
        """Of all tensors."""
        return tuple(self._tensors)

    def has(self, name: str) -> bool:
        return name in self._tensors

    def shape(self, name: str) -> tuple[int, ...]:
        """Rows first."""
        return tuple(int(length) for length in reversed(self._tensors[name].shape))

    def values(self, name: str) -> np.ndarray:
        """In 32 bits."""
        tensor = self._tensors[name]
        return np.asarray(gguf.dequantize(tensor.data, tensor.tensor_type), np.float32).reshape(self.shape(name))
