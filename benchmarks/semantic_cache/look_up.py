"""How long a look-up in a large index takes: `python -m benchmarks.semantic_cache.look_up --entries 1000000`."""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from benchmarks.semantic_cache.report import LookUp
from heterodyne.caching.semantic.usearch_index import UsearchIndex

DIMENSIONS = 256
DIRECTIONS = 32
ENTRIES_PER_CLUSTER = 20
MARKS = (100_000, 300_000)
QUERIES = 4000
EXACT_QUERIES = 200
_CHUNK = 50_000


def measure(dtype: str, entries: int, dimensions: int) -> Iterator[LookUp]:
    """Builds an index and looks up vectors near some of its entries, at some sizes on the way and at the end."""
    rng = np.random.default_rng(1)
    # Texts fill few of the directions of their embeddings; vectors that fill all of them are as good as never near.
    spread = rng.standard_normal((DIRECTIONS, dimensions)).astype(np.float32)
    centres = rng.standard_normal((max(1, entries // ENTRIES_PER_CLUSTER), DIRECTIONS)).astype(np.float32)
    vectors = np.empty((entries, dimensions), np.float16)
    index = UsearchIndex(dimensions, dtype=dtype)
    build_s = 0.0
    for start in range(0, entries, _CHUNK):
        count = min(_CHUNK, entries - start)
        part = centres[rng.integers(len(centres), size=count)]
        part = (part + 0.5 * rng.standard_normal(part.shape).astype(np.float32)) @ spread
        part /= np.linalg.norm(part, axis=1, keepdims=True)
        vectors[start : start + count] = part
        begin = time.perf_counter()
        for place, vector in enumerate(part):
            index.add(start + place, vector)
        build_s += time.perf_counter() - begin
        print(f"{dtype}: {start + count:,} entries, {build_s:.0f} s", flush=True)
        if start + count in {*MARKS, entries}:
            near = vectors[rng.integers(start + count, size=QUERIES)].astype(np.float32)
            near += 0.3 / np.sqrt(dimensions) * rng.standard_normal(near.shape).astype(np.float32)
            yield _timed(index, dtype, vectors[: start + count], near, build_s)


def _timed(index: UsearchIndex, dtype: str, vectors: np.ndarray, queries: np.ndarray, build_s: float) -> LookUp:
    walls, cpus, found = [], [], []
    for query in queries:
        begin, cpu = time.perf_counter(), time.thread_time()
        neighbours = index.nearest(query, 1)
        walls.append(time.perf_counter() - begin)
        cpus.append(time.thread_time() - cpu)
        found.append(neighbours[0].entry_id)
    hits = 0
    for query, entry_id in list(zip(queries, found, strict=True))[:EXACT_QUERIES]:
        best = max(
            (float(cosines.max()), start + int(cosines.argmax()))
            for start in range(0, len(vectors), _CHUNK)
            for cosines in [vectors[start : start + _CHUNK].astype(np.float32) @ query]
        )
        hits += best[1] == entry_id
    return LookUp(
        dtype=dtype,
        entries=len(index),
        dimensions=queries.shape[1],
        p50_ms=float(np.percentile(walls, 50)) * 1000,
        p99_ms=float(np.percentile(walls, 99)) * 1000,
        cpu_p99_ms=float(np.percentile(cpus, 99)) * 1000,
        recall=hits / min(EXACT_QUERIES, len(queries)),
        build_s=build_s,
        bytes_each=index.memory_bytes / max(1, len(index)),
    )


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--dimensions", type=int, default=DIMENSIONS)
    parser.add_argument("--dtypes", default="i8")
    parser.add_argument("--write", type=Path, default=None, help="JSON file for `--look-ups` of the page")
    options = parser.parse_args()
    measured = []
    for dtype in options.dtypes.split(","):
        for found in measure(dtype, options.entries, options.dimensions):
            print(found, flush=True)
            measured.append(found)
            if options.write is not None:
                options.write.write_bytes(msgspec.json.encode(measured))


if __name__ == "__main__":
    main()
