"""What a cache would find of the prompts of a log."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.planning.traffic.shared_prefix import shared_prefix
from heterodyne.planning.traffic.trace_request import TraceRequest


def arrival(*blocks: int, tokens: int | None = None) -> TraceRequest:
    count = len(blocks) * 512 if tokens is None else tokens
    return TraceRequest(at_s=0.0, prompt_tokens=count, output_tokens=1, block_hashes=blocks)


def test_a_prompt_finds_the_blocks_it_begins_with() -> None:
    found = shared_prefix([arrival(1, 2), arrival(1, 3), arrival(1, 2)])
    assert found is not None
    assert found.share == pytest.approx(3 / 6)
    assert found.distinct_tokens == 3 * 512


def test_a_block_behind_an_unknown_one_is_not_found() -> None:
    found = shared_prefix([arrival(1, 2), arrival(9, 2)])
    assert found is not None
    assert found.share == 0.0


def test_a_last_block_that_is_not_full_counts_its_own_tokens() -> None:
    found = shared_prefix([arrival(1, 2, tokens=600), arrival(1, 2, tokens=600)])
    assert found is not None
    assert found.share == pytest.approx(0.5)


def test_a_small_cache_forgets_the_end_of_a_prompt_first() -> None:
    long = arrival(*range(200))  # 102,400 tokens, more than the smallest cache
    found = shared_prefix([long, long])
    assert found is not None
    assert found.by_size[0].share == pytest.approx(128 / 400)
    assert found.by_size[1].share == found.share == pytest.approx(0.5)
    assert len(found.by_size) == 2


def test_a_log_without_hashes_says_nothing() -> None:
    assert shared_prefix([arrival(tokens=10)]) is None


@given(st.lists(st.lists(st.integers(0, 400), min_size=1, max_size=150), min_size=1, max_size=12))
def test_a_larger_cache_never_finds_less_than_a_smaller_one_of_a_chained_log(branches: list[list[int]]) -> None:
    # A hash stands for its block and all before it, as in real traces.
    log = [arrival(*(hash(tuple(branch[:end])) for end in range(1, len(branch) + 1))) for branch in branches]
    found = shared_prefix([*log, *log])
    assert found is not None
    shares = [one.share for one in found.by_size]
    assert shares == sorted(shares)
    assert shares[-1] <= found.share + 1e-9
