"""Orders on a pipe, whole lines whatever the pieces they come in."""

import os
from collections.abc import Iterator

import pytest

from heterodyne.supervisor.line_reader import LineReader


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    os.close(reading)


def test_several_lines_in_one_piece_come_one_by_one(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    os.write(writing, b"first\nsecond\nthi")
    lines = LineReader(reading)
    assert lines.try_next() == b"first"
    assert lines.try_next() == b"second"
    os.write(writing, b"rd\n")
    os.close(writing)
    assert lines.try_next() == b"third"
    assert lines.try_next() is None


def test_a_line_that_was_cut_by_the_end_is_no_order(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    os.write(writing, b"half an or")
    os.close(writing)
    assert LineReader(reading).try_next() is None
