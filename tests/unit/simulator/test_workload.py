"""Logs become traffic at the pace and of the length that is wanted."""

import pytest

from heterodyne.domain.errors import InvalidSpec
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.simulator.workload import workload
from tests.support.simulations import log


def hashed(*chains: tuple[int | str, ...]) -> list[TraceRequest]:
    return [
        TraceRequest(at_s=float(number), prompt_tokens=512 * len(chain), output_tokens=9, block_hashes=chain)
        for number, chain in enumerate(chains)
    ]


def test_as_recorded_the_first_comes_at_zero_and_gaps_stay() -> None:
    assert [one.at_s for one in workload(log(3, gap_s=2.0))] == [0.0, 2.0, 4.0]


def test_a_log_that_is_out_of_order_is_put_in_order() -> None:
    assert [one.at_s for one in workload(log(3, gap_s=2.0)[::-1])] == [0.0, 2.0, 4.0]


def test_a_rate_stretches_time_and_keeps_bursts() -> None:
    arrivals = [TraceRequest(at_s=at_s, prompt_tokens=5, output_tokens=5) for at_s in (0.0, 1.0, 1.0, 3.0)]
    assert [one.at_s for one in workload(arrivals, rate=10.0)] == pytest.approx([0.0, 0.1, 0.1, 0.3])


def test_a_log_of_one_moment_is_spread_evenly_at_a_rate() -> None:
    assert [one.at_s for one in workload(log(3, gap_s=0.0), rate=10.0)] == [0.0, 0.1, 0.2]


def test_more_requests_than_the_log_has_repeat_it_at_the_same_rate() -> None:
    requests = list(workload(log(10, gap_s=1.0), rate=5.0, requests=25))
    assert [one.number for one in requests] == list(range(25))
    assert requests[24].at_s == pytest.approx(24 / 5)
    assert requests[24].prompt_tokens == requests[4].prompt_tokens


def test_a_repeated_prompt_shares_nothing_with_the_walk_before() -> None:
    requests = list(workload(hashed(("a", "b"), ("a", "c")), requests=4))
    assert requests[0].numbers[0] == requests[1].numbers[0]
    assert requests[2].numbers[0] == requests[3].numbers[0]
    assert {*requests[0].numbers, *requests[1].numbers}.isdisjoint({*requests[2].numbers, *requests[3].numbers})
    assert requests[2].chain.hashes != requests[0].chain.hashes


def test_only_full_blocks_are_in_the_chain() -> None:
    [request] = workload([TraceRequest(at_s=0.0, prompt_tokens=1100, output_tokens=9, block_hashes=(1, 2, 3))])
    assert request.chain.ends == (512, 1024)


def test_a_prompt_that_goes_on_belongs_to_the_conversation_and_a_shared_beginning_alone_does_not() -> None:
    first, second, other = workload(hashed((1, 2), (1, 2, 3), (1, 7, 8, 9)))
    assert first.session == second.session != other.session


@pytest.mark.parametrize(
    ("arrivals", "wish", "said"),
    [
        ([], {}, "empty"),
        (log(2), {"rate": 0.0}, "no rate"),
        (log(2), {"requests": 0}, "at least 1"),
        (log(2, gap_s=0.0), {"requests": 3}, "--rate"),
    ],
)
def test_what_cannot_be_says_why(arrivals: list[TraceRequest], wish: dict[str, float], said: str) -> None:
    with pytest.raises(InvalidSpec, match=said):
        workload(arrivals, **wish)  # type: ignore[arg-type]
