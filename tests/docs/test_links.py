"""Every link to a file of this repository leads somewhere."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Files that pages name already and a branch that is not merged yet has; an entry that is no longer needed fails.


def dead_links() -> dict[str, list[str]]:
    """The file that is linked and not there, to the pages that link it."""
    found: dict[str, list[str]] = {}
    for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")):
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for address in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            target = (page.parent / address).resolve()
            if "://" not in address and not target.exists():
                found.setdefault(str(target.relative_to(ROOT)), []).append(str(page.relative_to(ROOT)))
    return found


def anchors(page: Path) -> set[str]:
    """The headings of a page, as addresses have them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^a-z0-9 _-]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_a_link_into_a_page_leads_to_a_heading() -> None:
    dead = []
    for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")):
        for address, anchor in re.findall(r"\]\(([^)#\s:]*\.md)?#([^)\s]+)\)", page.read_text(encoding="utf-8")):
            target = page.parent / address if address else page
            if anchor not in anchors(target):
                dead.append(f"{page.relative_to(ROOT)}: {address}#{anchor}")
    assert dead == []


def test_a_link_leads_to_a_file() -> None:
    assert dead_links() == {}
