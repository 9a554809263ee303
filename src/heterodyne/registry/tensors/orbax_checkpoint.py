"""A tree of arrays as JAX programs load it: an Orbax checkpoint whose bytes follow from the arrays alone.

Orbax would rather put all arrays into one database with random names inside, compress them by a library of any version
and write down the time and the place. Here each array is a folder with its numbers as they are, without time and place.
"""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from heterodyne.domain.errors import WeightsCorrupt, WeightsUnavailable
from heterodyne.registry.files import write_whole

TREE = "checkpoint"  # the folder of a model's arrays, beside its config and tokenizer
COMMITTED = "commit_success.txt"
STEP_METADATA = "_CHECKPOINT_METADATA"
TIMES = ("init_timestamp_nsecs", "commit_timestamp_nsecs")
MISSING = "JAX checkpoints need the extra `jax`: pip install 'heterodyne[jax]'"


def save_orbax(folder: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write `folder` anew. Names with dots are the way through the tree."""
    for left in folder.parent.glob(folder.name + "*"):  # of an attempt that was broken off, under a name of its own
        shutil.rmtree(left)
    orbax = _orbax()
    with orbax.Checkpointer(_handler(orbax)) as checkpointer:
        checkpointer.save(folder.absolute(), args=orbax.args.PyTreeSave(_tree(arrays)))
    path = folder / STEP_METADATA
    metadata = msgspec.json.decode(path.read_bytes(), type=dict[str, object])
    write_whole(path, msgspec.json.encode(metadata | dict.fromkeys(TIMES, 0), order="sorted"))
    if (folder / COMMITTED).is_file():  # which only has to be there, and names the folder that it was written to
        write_whole(folder / COMMITTED, b"")


def load_orbax(folder: Path) -> dict[str, np.ndarray]:
    """The arrays by their names; raises what is missing or damaged."""
    if not (folder / "_METADATA").is_file():
        raise WeightsUnavailable(f"{folder}: is no Orbax checkpoint; it has no _METADATA")
    orbax = _orbax()
    try:
        with orbax.Checkpointer(_handler(orbax)) as checkpointer:
            tree = checkpointer.restore(folder.absolute())
    except (ValueError, OSError) as error:
        raise WeightsCorrupt(f"{folder}: {error}") from error
    return dict(_named(tree))


def bfloat16(bits: np.ndarray) -> np.ndarray:
    """Numbers that are stored as BF16, as an array that JAX takes for such."""
    _orbax()
    import ml_dtypes  # noqa: PLC0415 - comes with JAX

    return bits.view(ml_dtypes.bfloat16)


def _orbax() -> Any:
    try:
        import orbax.checkpoint  # noqa: PLC0415 - an extra of a hundred and fifty megabytes
    except ImportError as error:
        raise WeightsUnavailable(MISSING) from error
    return orbax.checkpoint


def _handler(orbax: Any) -> Any:
    return orbax.PyTreeCheckpointHandler(use_ocdbt=False, use_zarr3=False, use_compression=False)


def _tree(arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, array in arrays.items():
        *path, last = name.split(".")
        branch = tree
        for word in path:
            branch = branch.setdefault(word, {})
        branch[last] = array
    return tree


def _named(tree: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, np.ndarray]]:
    for word, one in tree.items():
        if isinstance(one, Mapping):
            yield from _named(one, f"{before}{word}.")
        else:
            yield before + word, np.asarray(one)
