"""The console blocks of a page: commands, and what the page says that each of them prints."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A command goes on behind a backslash, and until its quotes are closed.
QUOTED = r"""(?:[^\n'\\#]|\\\n|\\.|'[^']*'|#(?!\s))*"""
COMMAND = re.compile(rf"^\$ ({QUOTED})(?:\s+#[^\n]*)?\n", re.MULTILINE)


class Step(NamedTuple):
    """One command."""

    command: str
    shown: str  # what the page says that it prints; may be nothing


def pages() -> list[Path]:
    """Those with console blocks."""
    return sorted(page for page in DOCS.rglob("*.md") if BLOCK.search(page.read_text(encoding="utf-8")))


def steps(page: Path) -> Iterator[Step]:
    """Every command of every block, from the top."""
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        found = list(COMMAND.finditer(block))
        ends = [one.start() for one in found[1:]] + [len(block)] * bool(found)
        for one, end in zip(found, ends, strict=True):
            yield Step(one.group(1).replace("\\\n", " ").strip(), block[one.end() : end])
