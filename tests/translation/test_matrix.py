"""Each client's API through each engine's: nothing invented, nothing lost, and what is not carried is named."""

import re
from functools import cache
from pathlib import Path

import pytest
import uvloop

from tests.translation.expected import CELLS, Cell, outcome
from tests.translation.matrix import Ran, run_pair
from tests.translation.page import rows

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the clients' own making
PAGE = Path(__file__).parents[2] / "docs" / "translation-matrix.md"


@cache
def ran(client: str, engine: str) -> Ran:
    """All cells of a pair run in one chain, for opening one takes longer than asking."""
    return uvloop.run(run_pair(client, engine))


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_what_is_meant_arrives_and_comes_back(cell: Cell) -> None:
    client, engine, _ = cell
    if cell in (failures := ran(client, engine).failures):
        raise failures[cell]
    assert ran(client, engine).requests[cell] > 0


def test_the_page_says_what_the_tests_do() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [line for line in page.splitlines() if re.match(r"\| (chat|responses|anthropic|gemini) \|", line)] == rows()
    same = sum(outcome(cell) == "same" for cell in CELLS)
    assert f"| cells | {len(CELLS)} |" in page
    assert f"| same | {same} |" in page
