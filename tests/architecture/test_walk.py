"""One streamed chat is a short walk through few files, and docs/architecture.md says how short."""

from collections import Counter

import pytest

from tests.architecture import walk

# The numbers of today; they fall, to `FILES_WANTED` and `ENTRIES_WANTED`, or what a file more is good for stands here.
# Two were Structs once, which a tracer does not see; two recall heads in place of parsing them; one finds the events of
# a stream for relays of several kinds; four learn what the engines of a pool cost, where one factor did; one
# keeps what batch work must leave free apart from what else is known of a model.
FILES_MAX = 67
ENTRIES_MAX = 9
SLACK = 2  # where sockets are read in other pieces, a walk is a file or an entry longer or shorter


@pytest.fixture(scope="module")
def entries() -> Counter[str]:
    return walk.walk()


def test_a_streamed_chat_touches_few_files_and_returns_to_each_seldom(entries: Counter[str]) -> None:
    files, most = walk.numbers(entries)
    assert files <= FILES_MAX + SLACK, sorted(entries)
    assert most <= ENTRIES_MAX + SLACK, entries.most_common(10)


def test_a_ceiling_above_the_target_is_no_higher_than_the_number(entries: Counter[str]) -> None:
    files, most = walk.numbers(entries)
    assert max(files, walk.FILES_WANTED) >= FILES_MAX - SLACK, "lower the ceilings of this test"
    assert max(most, walk.ENTRIES_WANTED) >= ENTRIES_MAX - SLACK, "lower the ceilings of this test"


def test_the_walk_begins_and_ends_at_the_wire(entries: Counter[str]) -> None:
    assert {"wire/server_connection.py", "wire/client_connection.py"} <= set(entries)


def test_the_page_has_the_files(entries: Counter[str]) -> None:
    page = walk.PAGE.read_text(encoding="utf-8")
    listed = page[page.index("<!-- walk:") : page.index("<!-- /walk -->")]
    missing = [name for name in entries if f"`{name.partition('/')[2].removesuffix('.py')}`" not in listed]
    assert len(missing) <= SLACK, "docs/architecture.md is out of date; run `python -m tests.architecture.walk --write`"
