"""Who is ejected, for how long, and how many at once."""

import pytest

from heterodyne.routing.health.outlier import Outlier, OutlierPool
from heterodyne.routing.settings import RoutingSettings

SETTINGS = RoutingSettings()


def pool(count: int, settings: RoutingSettings = SETTINGS) -> tuple[OutlierPool, list[Outlier]]:
    made, members = OutlierPool(settings), [Outlier(lambda: None) for _ in range(count)]
    for member in members:
        made.join(member)
    return made, members


def fail(outliers: OutlierPool, member: Outlier, now_s: float, times: int = 5) -> None:
    for _ in range(times):
        outliers.on_failure(member, now_s)


def test_five_failures_in_a_row_eject_for_thirty_seconds() -> None:
    outliers, (bad, *_) = pool(3)
    fail(outliers, bad, 1.0, times=4)
    assert not bad.is_ejected
    outliers.on_failure(bad, 2.0)
    assert (bad.is_ejected, bad.until_s) == (True, 32.0)
    outliers.advance(bad, 31.9)
    assert bad.is_ejected
    outliers.advance(bad, 32.0)
    assert not bad.is_ejected


def test_a_success_between_failures_keeps_a_replica_in() -> None:
    outliers, (shaky, *_) = pool(3)
    for _ in range(10):
        fail(outliers, shaky, 1.0, times=4)
        outliers.on_success(shaky, 1.0)
    assert not shaky.is_ejected


def test_each_ejection_lasts_longer_up_to_the_cap() -> None:
    outliers, (bad, *_) = pool(2)
    now_s, lengths_s = 0.0, []
    for _ in range(12):
        fail(outliers, bad, now_s)
        lengths_s.append(bad.until_s - now_s)
        now_s = bad.until_s
        outliers.advance(bad, now_s)
    assert lengths_s == [30.0 * min(times, 10) for times in range(1, 13)]


def test_quiet_intervals_forgive_past_ejections() -> None:
    outliers, (bad, *_) = pool(2)
    for now_s in (0.0, 30.0):
        fail(outliers, bad, now_s)
        outliers.advance(bad, bad.until_s)
    assert bad.times == 2
    fail(outliers, bad, 90.0 + 25.0)  # returned at 90 s; two intervals of ten seconds have passed
    assert bad.until_s - 115.0 == 30.0


def test_a_lone_replica_is_never_ejected() -> None:
    outliers, (only,) = pool(1)
    fail(outliers, only, 0.0, times=50)
    assert not only.is_ejected


@pytest.mark.parametrize(("count", "out"), [(2, 1), (9, 1), (19, 1), (20, 2), (64, 6)])
def test_only_a_share_of_the_pool_is_out_at_once(count: int, out: int) -> None:
    outliers, members = pool(count)
    for member in members:
        fail(outliers, member, 0.0)
    assert (outliers.ejected, sum(member.is_ejected for member in members)) == (out, out)
    assert outliers.refused == count - out


def test_a_share_of_nothing_ejects_nobody() -> None:
    outliers, (bad, *_) = pool(4, RoutingSettings(ejection_share_max=0))
    fail(outliers, bad, 0.0)
    assert not bad.is_ejected


def test_a_place_that_falls_free_goes_to_the_next_who_fails() -> None:
    outliers, (first, second) = pool(2)
    fail(outliers, first, 0.0)
    fail(outliers, second, 29.0)
    assert not second.is_ejected
    outliers.on_failure(second, 30.0)
    assert (first.is_ejected, second.is_ejected) == (False, True)


def test_a_shrinking_pool_takes_ejected_replicas_back() -> None:
    outliers, members = pool(20)
    fail(outliers, members[0], 0.0)
    fail(outliers, members[1], 1.0)
    outliers.leave(members[19], 2.0)
    assert [member.is_ejected for member in members[:2]] == [False, True]


def test_a_good_probe_ends_an_ejection_early_but_not_at_once() -> None:
    outliers, (bad, *_) = pool(2)
    fail(outliers, bad, 0.0)
    outliers.on_probe(bad, 9.9)
    assert bad.is_ejected
    outliers.on_probe(bad, 10.0)
    assert not bad.is_ejected


def test_a_probe_must_wait_longer_after_every_ejection() -> None:
    outliers, (bad, *_) = pool(2)
    fail(outliers, bad, 0.0)
    outliers.on_probe(bad, 10.0)
    fail(outliers, bad, 11.0)
    outliers.on_probe(bad, 30.9)
    assert bad.is_ejected
    outliers.on_probe(bad, 31.0)
    assert not bad.is_ejected


def interval(outliers: OutlierPool, members: list[Outlier], successes: list[int], requests: int = 100) -> None:
    """Ten seconds of traffic without failures in a row, and the event that closes them."""
    outliers.on_success(members[-1], 0.0)
    for member, good in zip(members, successes, strict=True):
        for number in range(requests):
            if number < good:
                outliers.on_success(member, 5.0)
            else:
                outliers.on_refused(member, 5.0)
    outliers.on_success(members[-1], 10.0)


def test_a_success_rate_far_below_the_others_ejects() -> None:
    outliers, members = pool(5)
    interval(outliers, members, [60, 100, 100, 100, 100])
    assert [member.is_ejected for member in members] == [True, False, False, False, False]


def test_a_success_rate_a_little_below_the_others_does_not() -> None:
    outliers, members = pool(5)
    interval(outliers, members, [97, 100, 100, 100, 100])
    assert outliers.ejected == 0


def test_replicas_that_are_all_busy_alike_stay() -> None:
    outliers, members = pool(5)
    interval(outliers, members, [40, 41, 42, 41, 40])
    assert outliers.ejected == 0


@pytest.mark.parametrize(("count", "requests"), [(4, 100), (5, 98)])
def test_few_replicas_or_few_requests_prove_nothing(count: int, requests: int) -> None:
    outliers, members = pool(count)
    interval(outliers, members, [0] + [requests] * (count - 1), requests)
    assert outliers.ejected == 0


def test_counts_from_before_a_quiet_time_are_dropped() -> None:
    outliers, members = pool(5)
    outliers.on_success(members[4], 0.0)
    for member in members:
        for _ in range(100):
            (outliers.on_refused if member is members[0] else outliers.on_success)(member, 5.0)
    outliers.on_success(members[4], 500.0)
    assert outliers.ejected == 0
