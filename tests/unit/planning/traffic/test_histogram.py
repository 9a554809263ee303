"""Logs in bins of lengths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.errors import InvalidSpec
from heterodyne.planning.traffic.histogram import histogram
from heterodyne.planning.traffic.trace_request import TraceRequest

LENGTHS = st.tuples(st.integers(1, 5000), st.integers(0, 900))


def arrival(prompt: int, output: int) -> TraceRequest:
    return TraceRequest(at_s=0.0, prompt_tokens=prompt, output_tokens=output)


@given(st.lists(LENGTHS, min_size=1, max_size=80), st.integers(1, 10))
def test_no_request_and_no_token_is_lost(lengths: list[tuple[int, int]], bins: int) -> None:
    cells = histogram([arrival(*one) for one in lengths], bins=bins)
    assert len(cells) <= bins * bins
    assert sum(cell.share for cell in cells) == pytest.approx(1.0)
    mean = sum(cell.share * cell.shape.prompt_tokens for cell in cells)
    assert mean == pytest.approx(sum(prompt for prompt, _ in lengths) / len(lengths))
    assert len({cell.name for cell in cells}) == len(cells)


def test_short_and_long_requests_are_told_apart() -> None:
    cells = histogram([arrival(10, 5)] * 3 + [arrival(1000, 5)], bins=4)
    assert [(cell.name, cell.share) for cell in cells] == [
        ("prompt 10 output 5", 0.75),
        ("prompt 11-1000 output 5", 0.25),
    ]


def test_an_answer_of_nothing_counts_as_one_token() -> None:
    (cell,) = histogram([arrival(10, 0)], bins=1)
    assert cell.shape.output_tokens == 1.0


@pytest.mark.parametrize("bins", [0, 11])
def test_a_number_of_bins_out_of_range_is_refused(bins: int) -> None:
    with pytest.raises(InvalidSpec, match=f"buckets: {bins}"):
        histogram([arrival(1, 1)], bins=bins)
