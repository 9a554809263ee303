"""Orders in which the same pairs arrive: by chance, and as an enemy or a change of fashion would have them."""

import random
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from benchmarks.semantic_cache.embedder import Embedder, Matrix
from benchmarks.semantic_cache.pairs import Pair
from heterodyne.caching.semantic.reading import PromptReading, read

Cosines = npt.NDArray[np.float64]

DEGRADED_DIMENSIONS = 48
SHUFFLES = 5


class Pool(Struct):
    """All pairs with what is known about them."""

    prompts: list[PromptReading]
    cached: list[PromptReading]
    is_same: npt.NDArray[np.bool_]
    cosines: Cosines
    cosines_degraded: Cosines


class Stream(Struct):
    """Pairs in the order in which they come."""

    name: str
    order: npt.NDArray[np.int64]
    cosines: Cosines  # in that order
    seed: int = 0  # of the coin


def pool(pairs: Sequence[Pair], embedder: Embedder) -> Pool:
    """Reads and embeds each text."""
    one = embedder.embed([pair.cached for pair in pairs])
    other = embedder.embed([pair.prompt for pair in pairs])
    return Pool(
        prompts=[read(pair.prompt) for pair in pairs],
        cached=[read(pair.cached) for pair in pairs],
        is_same=np.array([pair.is_same for pair in pairs]),
        cosines=_cosines(one, other),
        # Only a few directions are left, as if a smaller model had been put in its place.
        cosines_degraded=_cosines(one[:, :DEGRADED_DIMENSIONS], other[:, :DEGRADED_DIMENSIONS]),
    )


def streams(held: Pool) -> list[Stream]:
    """Every order that is measured."""
    found = [_stream(f"shuffled, seed {seed}", held, _shuffled(held, seed), seed) for seed in range(SHUFFLES)]
    shuffled = _shuffled(held, 99)
    near = held.cosines[shuffled]
    is_same = held.is_same[shuffled]
    found.append(_stream("all different ones first, the nearest first", held, shuffled[np.lexsort((-near, is_same))]))
    found.append(_stream("all same ones first", held, shuffled[np.argsort(~is_same, kind="stable")]))
    found.append(_stream("different ones last, the nearest first", held, shuffled[np.lexsort((-near, ~is_same))]))
    found.append(_stream("one kind of question after the other", held, _by(held, shuffled, lambda r: r.kind)))
    found.append(_stream("short questions first", held, _by(held, shuffled, lambda r: len(r.words))))
    degraded = _stream("embedder replaced by a worse one midway", held, shuffled)
    half = len(shuffled) // 2
    degraded.cosines[half:] = held.cosines_degraded[shuffled[half:]]
    found.append(degraded)
    return found


def _cosines(one: Matrix, other: Matrix) -> Cosines:
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    found: Cosines = (one * other).sum(axis=1, dtype=np.float64) / np.maximum(lengths, 1e-9)
    return found


def _shuffled(held: Pool, seed: int) -> npt.NDArray[np.int64]:
    order = list(range(len(held.is_same)))
    random.Random(seed).shuffle(order)
    return np.array(order)


def _stream(name: str, held: Pool, order: npt.NDArray[np.int64], seed: int = 7) -> Stream:
    return Stream(name=name, order=order, cosines=held.cosines[order].copy(), seed=seed)


def _by(held: Pool, order: npt.NDArray[np.int64], value: Callable[[PromptReading], str | int]) -> npt.NDArray[np.int64]:
    return np.array(sorted(order.tolist(), key=lambda place: value(held.prompts[place])))
