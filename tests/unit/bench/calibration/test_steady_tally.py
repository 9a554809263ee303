"""What counts of a closed loop: answers in its stride, until there are enough."""

from heterodyne.bench.calibration.steady_tally import SteadyTally
from heterodyne.bench.failure import BenchFailure, ExchangeFailed
from heterodyne.bench.tally import ResponseTiming


def answered(sent_at_s: float, finished_at_s: float) -> ResponseTiming:
    return ResponseTiming(
        meant_at_s=sent_at_s,
        sent_at_s=sent_at_s,
        content_at_s=[sent_at_s + 0.1, finished_at_s],
        finished_at_s=finished_at_s,
        prompt_tokens=10,
        completion_tokens=2,
        is_usage_reported=True,
    )


def test_answers_that_began_before_the_first_one_came_are_left_out() -> None:
    tally = SteadyTally(answers=2)
    for sent_at_s, finished_at_s in ((0.0, 1.0), (0.0, 1.5), (1.0, 2.0), (1.5, 3.0)):
        tally.add(answered(sent_at_s, finished_at_s))
    assert tally.succeeded == tally.ttft.count == 2
    assert tally.prompt_tokens == 20


def test_it_is_done_when_it_has_enough() -> None:
    tally = SteadyTally(answers=1)
    tally.add(answered(0.0, 1.0))
    assert not tally.is_done.is_set()
    tally.add(answered(1.0, 2.0))
    assert tally.is_done.is_set()


def test_a_server_that_only_refuses_is_not_asked_for_long() -> None:
    tally = SteadyTally(answers=100)
    for _ in range(3):
        assert not tally.is_done.is_set()
        tally.add_failure(ExchangeFailed(BenchFailure.HTTP_4XX, "too long"))
    assert tally.is_done.is_set()
