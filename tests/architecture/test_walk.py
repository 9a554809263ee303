"""One streamed chat is a short walk through few files, and docs/architecture.md says how short."""

from collections import Counter

import pytest

from tests.architecture import walk

# The numbers of today; they may only fall, to `FILES_WANTED` and `ENTRIES_WANTED`.
FILES_MAX = 61
ENTRIES_MAX = 9


@pytest.fixture(scope="module")
def entries() -> Counter[str]:
    return walk.walk()


def test_a_streamed_chat_touches_few_files_and_returns_to_each_seldom(entries: Counter[str]) -> None:
    files, most = walk.numbers(entries)
    assert files <= FILES_MAX, sorted(entries)
    assert most <= ENTRIES_MAX, entries.most_common(10)


def test_a_ceiling_above_the_target_is_no_higher_than_the_number(entries: Counter[str]) -> None:
    files, most = walk.numbers(entries)
    reached = (max(files, walk.FILES_WANTED), max(most, walk.ENTRIES_WANTED))
    assert reached == (FILES_MAX, ENTRIES_MAX), "lower the ceilings of this test"


def test_the_walk_begins_and_ends_at_the_wire(entries: Counter[str]) -> None:
    assert {"wire/server_connection.py", "wire/client_connection.py"} <= set(entries)


def test_the_page_has_the_numbers_and_the_list(entries: Counter[str]) -> None:
    page = walk.PAGE.read_text(encoding="utf-8")
    same = page == walk.refreshed(page, entries)
    assert same, "docs/architecture.md is out of date; run `python -m tests.architecture.walk --write`"
