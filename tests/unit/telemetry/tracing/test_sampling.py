"""Which traces are kept."""

from random import Random

import pytest

from heterodyne.telemetry.tracing.sampling import Rate, Ratio, SamplingReason, sampling_reason

IDS = [Random(seed).getrandbits(128) for seed in range(4000)]


def kept(
    *,
    is_sampled: bool = False,
    status: int = 200,
    reason: str = "",
    outcomes: tuple[str, ...] = ("success",),
    first_s: float = 0.1,
    slow_s: float = 2.0,
) -> SamplingReason | None:
    return sampling_reason(
        is_sampled=is_sampled, status=status, reason=reason, outcomes=outcomes, first_s=first_s, slow_s=slow_s
    )


@pytest.mark.parametrize("ratio", [0.1, 0.5, 0.9])
def test_about_the_share_is_sampled(ratio: float) -> None:
    sampler = Ratio(ratio)
    assert sum(map(sampler.is_sampled, IDS)) / len(IDS) == pytest.approx(ratio, abs=0.03)


def test_all_or_nobody_is_sampled() -> None:
    assert all(map(Ratio(1.0).is_sampled, [0, *IDS]))
    assert not any(map(Ratio(0.0).is_sampled, [(1 << 128) - 1, *IDS]))


def test_a_larger_share_keeps_what_a_smaller_one_does() -> None:
    few, many = Ratio(0.1), Ratio(0.3)
    assert all(many.is_sampled(one) for one in IDS if few.is_sampled(one))


def test_an_ordinary_request_is_not_kept() -> None:
    assert kept() is None


def test_a_sampled_one_stands_for_others_whatever_became_of_it() -> None:
    assert kept(is_sampled=True, status=503, reason="shed") is SamplingReason.SAMPLED


@pytest.mark.parametrize(("status", "reason"), [(500, "internal_error"), (503, "shed"), (200, "engine_error_event")])
def test_our_failures_and_engines_are_kept(status: int, reason: str) -> None:
    assert kept(status=status, reason=reason) is SamplingReason.ERROR


@pytest.mark.parametrize(
    ("status", "reason"), [(404, "model_not_found"), (429, "rate_limit_exceeded"), (499, "client_gone")]
)
def test_what_a_client_did_is_kept_only_with_its_share(status: int, reason: str) -> None:
    assert kept(status=status, reason=reason, outcomes=("cancelled",)) is None


def test_a_slow_one_is_kept_even_if_its_client_left() -> None:
    assert kept(first_s=2.1) is SamplingReason.SLOW
    assert kept(first_s=2.1, status=499, reason="client_gone", outcomes=("cancelled",)) is SamplingReason.SLOW
    assert kept(first_s=2.1, slow_s=0.0) is None


def test_one_that_a_replica_failed_is_kept_though_it_ended_well() -> None:
    assert kept(outcomes=("connect_failed", "success")) is SamplingReason.RETRIED
    assert kept(outcomes=("cancelled", "success")) is None, "the loser of a hedge has not failed"


def test_no_more_are_kept_in_a_second_than_may_be() -> None:
    rate = Rate(10, 0.0)
    assert [rate.try_take(0.0) for _ in range(12)] == [True] * 10 + [False] * 2
    assert [rate.try_take(0.25) for _ in range(4)] == [True, True, False, False]
    assert sum(rate.try_take(100.0) for _ in range(20)) == 10, "a quiet minute is not saved up"
