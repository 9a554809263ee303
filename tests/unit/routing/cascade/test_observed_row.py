"""Rows are read with their file, line and field in every complaint."""

import pytest

from heterodyne.domain.errors import InvalidSpec
from heterodyne.routing.cascade.observed_row import observed_rows

GOOD = (
    b'{"prompt": "?", "models": {"small": {"quality": 1, "usd": 0.1}, "large": {"quality": 0.5, "usd": 1, "ms": 9}}}\n'
)


def test_rows_are_read_and_empty_lines_are_not() -> None:
    rows = observed_rows("a.jsonl", [GOOD, b"\n", GOOD], ("small", "large"))
    assert len(rows) == 2
    assert (rows[0].models["large"].ms, rows[0].models["small"].ms, rows[0].judges) == (9, None, {})


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b"nonsense", r"a\.jsonl:2: .*malformed"),
        (b'{"models": {}}', r"a\.jsonl:2: .*`prompt`"),
        (GOOD.replace(b'"quality": 1', b'"quality": 7'), r"a\.jsonl:2: .*<= 1.*quality|a\.jsonl:2: .*<= 1.0.*models"),
        (GOOD.replace(b'"usd": 0.1', b'"usd": -1'), r"a\.jsonl:2: .*>= 0"),
        (GOOD.replace(b'"ms"', b'"mss"'), r'a\.jsonl:2: .*mss.*did you mean "ms"'),
        (GOOD.replace(b'"large"', b'"larger"'), r'a\.jsonl:2: models: no model "large"; did you mean "larger"'),
        (b"\xff", r"a\.jsonl:2: "),
    ],
)
def test_a_bad_row_is_named(line: bytes, complaint: str) -> None:
    with pytest.raises(InvalidSpec, match=complaint):
        observed_rows("a.jsonl", [GOOD, line], ("small", "large"))
