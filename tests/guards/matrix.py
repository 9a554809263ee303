"""Every way that words take past the policies, and the routes that have it. Each cell of it is tried by a test.

A test says which way it tries with `tried`, and gets the routes that it has to try it on. `docs/guard-matrix.md` is
written of the same lists.
"""

from typing import Final

import pytest

from heterodyne.batches.lines import ENDPOINTS
from tests.guards.every_route import ASKED, TENSORS, Asked

SPOKEN: Final = tuple(asked for asked in ASKED if asked.speaks)
STREAMED: Final = tuple(asked for asked in ASKED if asked.stream is not None)
GENERATED: Final = tuple(asked for asked in STREAMED if not asked.is_form)
CHATS: Final = tuple(asked for asked in GENERATED if asked.path != "/v1/completions")  # have roles and tools
BATCHED: Final = tuple(asked for asked in ASKED if asked.path in ENDPOINTS)
WAYS: Final[dict[tuple[str, str], tuple[Asked, ...]]] = {
    ("plain", "in"): (*ASKED, TENSORS),
    ("plain", "out"): SPOKEN,
    ("stream", "in"): STREAMED,
    ("stream", "out"): STREAMED,
    ("batch", "in"): BATCHED,
    ("batch", "out"): tuple(asked for asked in BATCHED if asked.speaks),
    ("tool result", "in"): CHATS,
    ("tool call", "out"): CHATS,
    ("cached", "in"): GENERATED,
    ("cached", "out"): GENERATED,
    ("cascaded", "in"): CHATS,
    ("cascaded", "out"): CHATS,
    ("continued", "in"): GENERATED,
    ("continued", "out"): GENERATED,
}
COLUMNS: Final = tuple(dict.fromkeys(way for way, _ in WAYS))
TRIED: Final[set[tuple[str, str]]] = set()


def tried(way: str, *directions: str) -> pytest.MarkDecorator:
    """Has a test try a way on each of its routes, as `asked`."""
    TRIED.update((way, direction) for direction in directions)
    routes = WAYS[way, directions[0]]
    assert all(WAYS[way, direction] == routes for direction in directions)
    return pytest.mark.parametrize("asked", routes, ids=lambda asked: asked.path)


def rows() -> list[str]:
    """The table's, one for each route."""
    return [f"| `{asked.path}` | {' | '.join(_cell(asked, way) for way in COLUMNS)} |" for asked in (*ASKED, TENSORS)]


def counts() -> list[str]:
    """How many cells there are, by way."""
    lines = [f"| {way} | {len(WAYS.get((way, 'in'), ()))} | {len(WAYS.get((way, 'out'), ()))} |" for way in COLUMNS]
    return [*lines, f"| **all** | {_sum('in')} | {_sum('out')} |"]


def _sum(direction: str) -> int:
    return sum(len(routes) for (_, towards), routes in WAYS.items() if towards == direction)


def _cell(asked: Asked, way: str) -> str:
    found = [direction for direction in ("in", "out") if asked in WAYS.get((way, direction), ())]
    return ", ".join(found) or "-"
