"""Hypothesis strategies: the same bytes, cut in any way; and short runs that repeat."""

from itertools import pairwise

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tests.support.examples import examples

bounded = settings(
    max_examples=examples(60),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)


@st.composite
def splits(draw: st.DrawFn, data: bytes) -> list[bytes]:
    """`data` in pieces of any size, none empty."""
    cuts = sorted(draw(st.sets(st.integers(1, max(1, len(data) - 1)), max_size=12)))
    edges = [0, *cuts, len(data)]
    pieces = [data[start:end] for start, end in pairwise(edges)]
    return [piece for piece in pieces if piece]
