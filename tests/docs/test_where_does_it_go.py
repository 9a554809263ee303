"""`docs/contributing/where-does-it-go.md` names files that exist and registry lines that are in them."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "contributing" / "where-does-it-go.md"
TEXT = " ".join(PAGE.read_text(encoding="utf-8").split())
LINK = r"\[`?(?P<name>[^]`]+)`?\]\((?P<path>[^)]+)\)"
CHANGES = (
    "A routing policy",
    "An engine",
    "A guard",
    "A store",
    "A way to exchange KV",
    "A metric",
    "A setting",
    "A console view",
    "An alert",
    "A CLI command",
    "A client dialect",
)


def links() -> list[tuple[str, str]]:
    """Name and path of every link."""
    return re.findall(LINK, TEXT)


def registry_lines() -> list[tuple[str, str]]:
    """Path and line of every "FILE has `line`"."""
    return [(path, line) for _, path, line in re.findall(LINK + r",? (?:which )?has `([^`]+)`", TEXT)]


def test_the_page_has_the_changes_people_make() -> None:
    headings = re.findall(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert tuple(headings) == CHANGES


@pytest.mark.parametrize(("name", "path"), links())
def test_a_path_exists_and_is_the_one_that_is_written(name: str, path: str) -> None:
    target = (PAGE.parent / path).resolve()
    assert target.exists(), path
    assert path.endswith(name.rstrip("/")) or ("." not in name and "/" not in name), (name, path)


@pytest.mark.parametrize(("path", "line"), registry_lines())
def test_a_registry_has_the_line(path: str, line: str) -> None:
    assert line in (PAGE.parent / path).read_text(encoding="utf-8")


def test_every_change_but_a_guard_has_a_registry_line() -> None:
    sections = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    without = [text.splitlines()[0] for text in sections if not re.search(r"\bhas\s+`", text)]
    assert without == ["A guard"]
