"""Circles of imports between siblings: modules or packages of one folder that need each other, whatever the way around.

`python -m tests.architecture.circles`, part of `make check`, prints those that are not in `KNOWN`, and those of `KNOWN`
that are gone.
"""

import sys
from collections import defaultdict

from tests.architecture import source

Circle = frozenset[str]

# Circles that stand until their folder is mended; an entry that is no longer needed fails the check.
KNOWN: frozenset[Circle] = frozenset(
    {
        frozenset({"heterodyne.console.guard", "heterodyne.console.session"}),
        frozenset({"heterodyne.emulator.engine", "heterodyne.emulator.response", "heterodyne.emulator.surface"}),
        frozenset({"heterodyne.routing.forecast", "heterodyne.routing.replica_state"}),
        frozenset(
            {
                "heterodyne.gateway.admission",
                "heterodyne.gateway.attempt",
                "heterodyne.gateway.backstage",
                "heterodyne.gateway.dialects",
                "heterodyne.gateway.exchange",
                "heterodyne.gateway.holdings",
                "heterodyne.gateway.model_queues",
                "heterodyne.gateway.offload",
                "heterodyne.gateway.open_inference_pages",
                "heterodyne.gateway.openapi",
                "heterodyne.gateway.pages",
                "heterodyne.gateway.pending_request",
                "heterodyne.gateway.refusal",
                "heterodyne.gateway.request_handler",
                "heterodyne.gateway.routes",
            }
        ),
    }
)


def circles() -> set[Circle]:
    """The strongly connected siblings of every folder, by dotted name."""
    return {circle for edges in _siblings().values() for circle in connected(edges)}


def unexpected() -> list[str]:
    """What is wrong, a line each: circles that are new, and entries of `KNOWN` that have gone."""
    now = circles()
    new = [f"a circle: {_line(circle)}" for circle in now - KNOWN]
    gone = [f"no circle any more, take it out of KNOWN: {_line(circle)}" for circle in KNOWN - now]
    return sorted(new) + sorted(gone)


def _siblings() -> dict[str, dict[str, set[str]]]:
    """Folder to sibling to the siblings it imports, itself or by a module inside it."""
    edges: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name in source.modules():
        for imported in source.imports(name):
            here, there = name.split("."), imported.split(".")
            shared = 0
            while shared < min(len(here), len(there)) and here[shared] == there[shared]:
                shared += 1
            if shared < min(len(here), len(there)):  # else one is the package of the other
                folder = ".".join(here[:shared])
                edges[folder][f"{folder}.{here[shared]}"].add(f"{folder}.{there[shared]}")
    return edges


def connected(edges: dict[str, set[str]]) -> list[Circle]:
    """Groups of two and more of which each reaches each."""
    reached = {name: _reach(name, edges) for name in edges}
    groups = {frozenset(other for other in reached[name] if name in reached.get(other, ())) for name in edges}
    return [group for group in groups if len(group) > 1]


def _reach(start: str, edges: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    ahead = [start]
    while ahead:
        for name in edges.get(ahead.pop(), ()):
            if name not in seen:
                seen.add(name)
                ahead.append(name)
    return seen


def _line(circle: Circle) -> str:
    return ", ".join(sorted(circle))


if __name__ == "__main__":
    problems = unexpected()
    print("\n".join(problems) or f"no circles between siblings ({len(KNOWN)} known exceptions)")
    sys.exit(bool(problems))
