"""How long a look-up in a large index takes: `python -m benchmarks.semantic_cache.look_up --write FILE`.

With `--page docs/semantic-cache-accuracy.md` as well, what FILE has is put into the page.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from benchmarks.semantic_cache.report import LookUp, with_look_ups
from heterodyne.caching.semantic.usearch_index import EXPANSION_ADD, EXPANSION_SEARCH, UsearchIndex

Vectors = npt.NDArray[np.float32]

DIMENSIONS = 384  # as the embedding model of the guide has them
DIRECTIONS = 32
ENTRIES_PER_CLUSTER = 20
MARKS = (100_000, 300_000)
VIEWS: Final = (16, EXPANSION_SEARCH, 64)  # candidates that a look-up keeps in view
QUERIES = 4000
ROUNDS = 5  # apart by a moment, as a machine that others use too holds up one and not the next
PAUSE_S = 2.0
EXACT_QUERIES = 1000
_CHUNK = 50_000


class BuiltIndex(UsearchIndex):
    """The index of the gateway, which many threads fill and one asks."""

    def fill(self, start: int, vectors: Vectors, *, threads: int) -> None:
        """Vectors of length 1 under numbers from `start` on."""
        self._index.add(np.arange(start, start + len(vectors), dtype=np.uint64), vectors, threads=threads)

    def look_at(self, view: int) -> None:
        """Keep so many candidates in view from now on."""
        self._index.expansion_search = view


def measure(dtype: str, entries: int, dimensions: int, threads: int) -> Iterator[LookUp]:
    """Builds an index and looks up vectors near some of its entries, at some sizes on the way and at the end."""
    rng = np.random.default_rng(1)
    # Texts fill few of the directions of their embeddings; vectors that fill all of them are as good as never near.
    spread = rng.standard_normal((DIRECTIONS, dimensions)).astype(np.float32)
    centres = rng.standard_normal((max(1, entries // ENTRIES_PER_CLUSTER), DIRECTIONS)).astype(np.float32)
    vectors = np.empty((entries, dimensions), np.float16)
    index = BuiltIndex(dimensions, dtype=dtype)
    build_s = 0.0
    for start in range(0, entries, _CHUNK):
        count = min(_CHUNK, entries - start)
        part = centres[rng.integers(len(centres), size=count)]
        part = (part + 0.5 * rng.standard_normal(part.shape).astype(np.float32)) @ spread
        part /= np.linalg.norm(part, axis=1, keepdims=True)
        vectors[start : start + count] = part
        begin = time.perf_counter()
        index.fill(start, part, threads=threads)
        build_s += time.perf_counter() - begin
        print(f"{dtype}: {start + count:,} entries, {build_s:.0f} s", flush=True)
        if start + count in {*MARKS, entries}:
            near = vectors[rng.integers(start + count, size=QUERIES)].astype(np.float32)
            near += 0.3 / np.sqrt(dimensions) * rng.standard_normal(near.shape).astype(np.float32)
            nearest = _nearest(vectors[: start + count], near[:EXACT_QUERIES])
            for view in VIEWS:
                index.look_at(view)
                yield _timed(index, near, nearest, dtype=dtype, view=view, build_s=build_s)


def _nearest(vectors: npt.NDArray[np.float16], queries: Vectors) -> npt.NDArray[np.int64]:
    """The nearest vector to each query, by looking at all of them."""
    best = np.full(len(queries), -1.0, np.float32)
    found = np.zeros(len(queries), np.int64)
    for start in range(0, len(vectors), _CHUNK):
        cosines = queries @ vectors[start : start + _CHUNK].astype(np.float32).T
        rows = cosines.argmax(axis=1)
        values = cosines[np.arange(len(queries)), rows]
        is_nearer = values > best
        best[is_nearer], found[is_nearer] = values[is_nearer], start + rows[is_nearer]
    return found


def _timed(
    index: BuiltIndex, queries: Vectors, nearest: npt.NDArray[np.int64], *, dtype: str, view: int, build_s: float
) -> LookUp:
    walls, cpus = np.empty((ROUNDS, len(queries))), np.empty((ROUNDS, len(queries)))
    for number in range(ROUNDS):
        found = []
        for place, query in enumerate(queries):
            begin, cpu = time.perf_counter(), time.thread_time()
            neighbours = index.nearest(query, 1)
            walls[number, place] = time.perf_counter() - begin
            cpus[number, place] = time.thread_time() - cpu
            found.append(neighbours[0].entry_id)
        time.sleep(PAUSE_S)
    return LookUp(
        dtype=dtype,
        entries=len(index),
        dimensions=queries.shape[1],
        view=view,
        p50_ms=float(np.median(np.percentile(walls, 50, axis=1))) * 1000,
        p99_ms=float(np.median(np.percentile(walls, 99, axis=1))) * 1000,
        p99_worst_ms=float(np.percentile(walls, 99, axis=1).max()) * 1000,
        cpu_p99_ms=float(np.median(np.percentile(cpus, 99, axis=1))) * 1000,
        recall=float(np.mean(np.array(found[: len(nearest)]) == nearest)),
        build_s=build_s,
        bytes_each=index.memory_bytes / max(1, len(index)),
    )


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--dimensions", type=int, default=DIMENSIONS)
    parser.add_argument("--dtypes", default="i8")
    parser.add_argument("--threads", type=int, default=2, help="that fill the index; one asks it")
    parser.add_argument("--write", type=Path, default=None, help="JSON file of what was measured")
    parser.add_argument("--page", type=Path, default=None, help="page that was written, for its part about look-ups")
    options = parser.parse_args()
    if options.page is not None:
        assert options.write is not None
        measured = msgspec.json.decode(options.write.read_bytes(), type=list[LookUp])
        options.page.write_text(with_look_ups(options.page.read_text(), measured))
        return
    print(f"{EXPANSION_ADD} candidates in view while entries are added", flush=True)
    measured = []
    for dtype in options.dtypes.split(","):
        for found in measure(dtype, options.entries, options.dimensions, options.threads):
            print(found, flush=True)
            measured.append(found)
            if options.write is not None:
                options.write.write_bytes(msgspec.json.encode(measured))


if __name__ == "__main__":
    main()
