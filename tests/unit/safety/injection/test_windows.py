"""A long text is scored in few windows, the ones that matter among them."""

from itertools import pairwise

import pytest

from heterodyne.safety.injection import windows
from heterodyne.safety.injection.windows import CHARACTERS, STRIDE, WINDOWS_MAX


@pytest.mark.parametrize("length", [0, 1, CHARACTERS - 1, CHARACTERS, CHARACTERS + 1, 5 * STRIDE, 30_000])
def test_windows_cover_a_text_that_is_not_too_long(length: int) -> None:
    spans = list(windows.spans(length))
    assert spans[0][0] == 0
    assert spans[-1][1] == length
    assert all(later <= end for (_, end), (later, _) in pairwise(spans))


def test_a_very_long_text_has_as_many_windows_as_are_allowed() -> None:
    spans = list(windows.spans(10_000_000))
    assert len(spans) <= WINDOWS_MAX
    assert spans[0][0] == 0
    assert spans[-1][1] == 10_000_000


def test_a_mark_is_in_a_window() -> None:
    spans = list(windows.spans(10_000_000, [4_321_000]))
    assert any(start <= 4_321_000 < end for start, end in spans)


def test_marks_do_not_take_all_windows() -> None:
    spans = list(windows.spans(10_000_000, range(0, 1_000_000, STRIDE)))
    assert len(spans) <= WINDOWS_MAX
    assert sum(start > 1_000_000 for start, _ in spans) >= WINDOWS_MAX // 4
