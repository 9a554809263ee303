"""The page about engines lists what clients may send to each."""

import re
from pathlib import Path

import pytest

from heterodyne.engines.catalogue import DIALECTS
from heterodyne.engines.client_fields import THINKING

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"
SECTION = PAGE.read_text(encoding="utf-8").split("## What clients may send", 1)[1].split("\n## ", 1)[0]


@pytest.mark.parametrize("engine", DIALECTS)
def test_the_page_lists_the_fields_that_pass_and_no_others(engine: str) -> None:
    [row] = [line for line in SECTION.splitlines() if line.startswith(f"| `{engine}` |")]
    listed = set(re.findall(r"`([^`]+)`", row)) - {engine}
    if row.endswith("thinking |"):
        listed |= THINKING
    assert listed == DIALECTS[engine].client_fields
