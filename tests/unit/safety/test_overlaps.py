"""Of findings that overlap the surest stand, and no character of the others is left to be seen."""

from hypothesis import given
from hypothesis import strategies as st

from heterodyne.safety.finding import Finding
from heterodyne.safety.overlaps import covering, resolve


def finding(start: int, end: int, score: float = 1.0, rule: str = "a") -> Finding:
    return Finding(start=start, end=end, rule=rule, score=score)


def test_the_surer_stands_and_then_the_longer() -> None:
    assert resolve([finding(0, 9, 0.5), finding(4, 6, 0.9), finding(20, 22)]) == [finding(4, 6, 0.9), finding(20, 22)]
    assert resolve([finding(0, 4), finding(2, 9)]) == [finding(2, 9)]


def test_of_what_makes_way_the_rest_is_covered_too() -> None:
    assert covering([finding(0, 9, 0.5), finding(4, 6, 0.9)]) == [
        finding(0, 4, 0.5),
        finding(4, 6, 0.9),
        finding(6, 9, 0.5),
    ]
    assert covering([finding(3, 8, 0.9), finding(3, 8, 0.5, "b"), finding(5, 12, 0.7)]) == [
        finding(3, 8, 0.9),
        finding(8, 12, 0.7),
    ]


SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 12), st.sampled_from([0.5, 0.7, 0.9])), max_size=12)


@given(SPANS)
def test_every_character_of_a_finding_is_covered_once(spans: list[tuple[int, int, float]]) -> None:
    found = [finding(start, start + size, score) for start, size, score in spans]
    covered = [place for one in covering(found) for place in range(one.start, one.end)]
    assert covered == sorted({place for one in found for place in range(one.start, one.end)})
    assert set(resolve(found)) <= set(covering(found))
