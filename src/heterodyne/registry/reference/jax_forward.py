"""The reference pass in JAX: an Orbax checkpoint restored, and compiled for the CPU, GPU or TPU that is here."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from heterodyne.domain.errors import WeightsCorrupt, WeightsUnavailable
from heterodyne.registry.families.catalogue import family_of_config
from heterodyne.registry.families.family import check_tensors
from heterodyne.registry.reference.forward import log_probabilities
from heterodyne.registry.tensors.checkpoint import CONFIG
from heterodyne.registry.tensors.orbax_checkpoint import MISSING, TREE, load_orbax


def jax_log_probabilities(folder: Path) -> Callable[[Sequence[int]], np.ndarray]:
    """What `log_probabilities` says of the model in `folder`, computed by JAX. Each length of text is compiled once."""
    jax, jnp = _jax()
    try:
        config = msgspec.json.decode((folder / CONFIG).read_bytes(), type=dict[str, object])
    except (OSError, msgspec.MsgspecError) as error:
        raise WeightsCorrupt(f"{folder / CONFIG}: {error}") from error
    family, shape = family_of_config(str(folder / CONFIG), config)
    arrays = load_orbax(folder / TREE)
    check_tensors(str(folder), {name: array.shape for name, array in arrays.items()}, family, shape)
    weights = {name: jnp.asarray(array).astype(jnp.float32) for name, array in arrays.items()}
    compiled = jax.jit(lambda given, tokens: log_probabilities(shape, given, tokens, jnp))

    def said(tokens: Sequence[int]) -> np.ndarray:
        # GPUs and TPUs would multiply in fewer bits than they are given.
        with jax.default_matmul_precision("float32"):
            return np.asarray(compiled(weights, jnp.asarray(list(tokens))))

    return said


def _jax() -> tuple[Any, Any]:
    try:
        import jax.numpy  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise WeightsUnavailable(MISSING) from error
    return jax, jax.numpy
