"""Pages are wrapped, so that a change of one word is a change of one line; those of the reference are tables."""

from pathlib import Path

import pytest

from tests.docs.wrap import long_lines, wrapped

ROOT = Path(__file__).parents[2]
REFERENCE = frozenset(f"docs/reference/{name}.md" for name in ("cli", "errors", "metrics", "settings"))  # `make docs`
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("changes/*.md"))
    if str(path.relative_to(ROOT)) not in REFERENCE
)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_wrapped_at_100_columns(name: str) -> None:
    assert long_lines((ROOT / name).read_text(encoding="utf-8")) == [], f"run `python -m tests.docs.wrap {name}`"


def test_wrapping_leaves_code_and_tables_alone_and_starts_no_list() -> None:
    page = f"{'word ' * 20}- more\n\n```\n{'x ' * 60}\n```\n| {'cell ' * 30}|\n\n- {'item ' * 30}\n"
    lines = wrapped(page).splitlines()
    assert lines[:3] == [("word " * 19).strip(), "word - more", ""]
    assert lines[4] == "x " * 60
    assert lines[6].startswith("| cell")
    assert [line[:6] for line in lines[8:]] == ["- item", "  item"]
