"""The tensors of a checkpoint as values in 32 bits, by their names."""

from collections.abc import Iterator, Mapping

import numpy as np

from heterodyne.registry.tensors.checkpoint import Checkpoint


class CheckpointValues(Mapping[str, np.ndarray]):
    """Each is read when it is looked up and is not kept, so that a pass through a large model needs little memory."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._checkpoint:
            raise KeyError(name)
        return self._checkpoint.values(name)

    def __contains__(self, name: object) -> bool:
        return name in self._checkpoint

    def __iter__(self) -> Iterator[str]:
        return iter(self._checkpoint.names)

    def __len__(self) -> int:
        return len(self._checkpoint.names)
