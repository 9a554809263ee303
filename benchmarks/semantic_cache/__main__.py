"""`make bench-semantic-cache`: replay question pairs in many orders, write the page."""

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks.semantic_cache import pairs
from benchmarks.semantic_cache.embedder import DIMENSIONS, Embedder
from benchmarks.semantic_cache.replay import replay
from benchmarks.semantic_cache.report import LookUp, render
from benchmarks.semantic_cache.streams import Pool, pool, streams
from heterodyne.caching.semantic import verifier
from heterodyne.caching.semantic.error_account import ErrorBound
from heterodyne.caching.semantic.settings import SemanticSettings

OTHER_BOUNDS = (
    ErrorBound(per_request=0.005),
    ErrorBound(per_request=0.02),
    ErrorBound(per_request=0.05),
    ErrorBound(per_request=0.0005, per_hit=0.01),
    ErrorBound(per_request=0.001, per_hit=0.1),
)
NEAR_OVERLAP = 0.6


def main() -> None:
    """Read the folder of data, replay, write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with semantic_cache")
    parser.add_argument("--look-ups", type=Path, default=None, help="what benchmarks.semantic_cache.look_up wrote")
    parser.add_argument("--write", type=Path, default=None, help="page to write, e.g. docs/semantic-cache-accuracy.md")
    options = parser.parse_args()
    development, held_out = pairs.load(options.data / "semantic_cache")
    embedder = Embedder(sorted({text for pair in development for text in (pair.cached, pair.prompt)}))
    held = pool(held_out, embedder)
    orders = streams(held)
    found = []
    for stream in orders:
        found.append(replay(held, stream, SemanticSettings()))
        print(f"{stream.name}: {found[-1].hits} hits, {found[-1].wrong} wrong", flush=True)
    page = render(
        development=len(development),
        dimensions=DIMENSIONS,
        streams=found,
        others=[(bound, replay(held, orders[0], SemanticSettings(error_bound=bound))) for bound in OTHER_BOUNDS],
        rules=_rules(held),
        look_ups=_look_ups(options.look_ups),
    )
    if options.write is None:
        print(page)
    else:
        options.write.write_text(page, encoding="utf-8")


def _rules(held: Pool) -> Sequence[tuple[str, int, int]]:
    """How many near pairs are the same and how many are not, by rule."""
    counts: Counter[tuple[str, bool]] = Counter()
    for prompt, cached, is_same in zip(held.prompts, held.cached, held.is_same.tolist(), strict=True):
        if len(prompt.content & cached.content) >= NEAR_OVERLAP * max(1, len(prompt.content | cached.content)):
            counts[verifier.difference(prompt, cached) or "none objects", is_same] += 1
    names = ["none objects", *verifier.RULES]
    return [
        (f"{name}{' (veto)' if name in verifier.VETOES else ''}", counts[name, True], counts[name, False])
        for name in names
    ]


def _look_ups(path: Path | None) -> list[LookUp]:
    return [] if path is None else msgspec.json.decode(path.read_bytes(), type=list[LookUp])


if __name__ == "__main__":
    main()
