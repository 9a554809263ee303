"""Numbers with their nouns."""

import re
from pathlib import Path

import heterodyne
from heterodyne.domain.counted import counted, times

# Nouns that stand after a number of things there may be one of; bytes and tokens are units, and stay.
NOUNS = "sequences|pools|models|replicas|entries|segments|anchors|slots|points|rows|keys|attempts|warnings|problems"


def test_one_of_a_thing_is_said_without_an_s() -> None:
    assert (counted(1, "sequence"), counted(0, "sequence"), counted(2, "sequence")) == (
        "1 sequence",
        "0 sequences",
        "2 sequences",
    )
    assert counted(1, "entry", "entries") == "1 entry"
    assert counted(3, "entry", "entries") == "3 entries"
    assert (times(1), times(2)) == ("once", "2 times")


def test_no_command_counts_by_hand() -> None:
    by_hand = re.compile(rf"""["'][^"']*\{{[^{{}}]+\}} ({NOUNS})\b""")
    found = [
        f"{path.name}:{number}: {line.strip()}"
        for path in (Path(heterodyne.__file__).parent / "cli").rglob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if by_hand.search(line) and "== 1" not in line and "len(message_lines)" not in line
    ]
    assert found == []
