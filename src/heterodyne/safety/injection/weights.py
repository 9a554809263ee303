"""The trained weights of the classifier, as they lie beside this file."""

import hashlib
import io
from functools import cache
from importlib import resources
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

FILE: Final = "weights.npz"
SHA256: Final = "cbb6f9eeb419c36c613f88d9cd32257788bd46d37f7c7250824b9c5c954cef4b"  # written by `make train-guards`
VERSION: Final = "1"  # of features, surface and weights together; weights of another one mean something else


class WeightsMismatch(ValueError):
    """The file is not the one that this version was released with."""


class InjectionWeights(Struct, frozen=True, kw_only=True, eq=False):
    """A linear model over buckets and surface features, and the threshold that goes with it."""

    version: str
    table: npt.NDArray[np.float32]  # one weight per bucket
    surface: npt.NDArray[np.float32]  # one weight per surface feature, in their order
    bias: float
    threshold: float  # scores of 1 % of benign texts are above


@cache
def released() -> InjectionWeights:
    """The weights of this version, read and checked once."""
    data = resources.files("heterodyne.safety.injection").joinpath(FILE).read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if digest != SHA256:
        raise WeightsMismatch(f"{FILE}: sha256 {digest}, released with {SHA256}; reinstall, or run make train-guards")
    return parsed(data)


def parsed(data: bytes) -> InjectionWeights:
    """Weights from the bytes of a file."""
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        if str(arrays["version"]) != VERSION:
            raise WeightsMismatch(f"{FILE}: version {arrays['version']}, this code reads {VERSION}")
        return InjectionWeights(
            version=VERSION,
            table=arrays["table"].astype(np.float32),
            surface=arrays["surface"].astype(np.float32),
            bias=float(arrays["bias"]),
            threshold=float(arrays["threshold"]),
        )
