"""What can be told of a batch's input while it comes."""

import pytest

from heterodyne.gateway.stored.files.batch_lines import BatchLines


def problem_of(data: bytes, size: int, line_bytes_max: int = 20) -> str:
    lines = BatchLines(line_bytes_max)
    for start in range(0, len(data), size):
        lines.feed(data[start : start + size])
    lines.end()
    return lines.problem


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"{}\n{}\n", ""),
        (b"{}", ""),
        (b"x" * 20 + b"\n" + b"y" * 20, ""),
        ("ä語🙂\n".encode() * 50, ""),
        (b"x" * 21, "longer than 20 bytes"),
        (b"ok\n" + b"x" * 21 + b"\nok\n", "longer than 20 bytes"),
        (b"ok\n" * 30 + b"x" * 21, "longer than 20 bytes"),
        (b"", "empty"),
        (b"\n \r\n\n", "empty"),
        (b"\xff\xfe{}\n", "not UTF-8"),
        ("ä".encode()[:1], "not UTF-8"),
        (b"ok\n" + "語".encode()[:2], "not UTF-8"),
    ],
)
def test_lines_are_judged_however_they_are_cut(data: bytes, problem: str, size: int) -> None:
    found = problem_of(data, size)
    assert problem in found
    assert bool(problem) == bool(found)
