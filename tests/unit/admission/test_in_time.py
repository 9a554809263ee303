"""Whether a request can be answered in time at all."""

import pytest

from heterodyne.admission.in_time import Outlook, check_in_time
from heterodyne.domain.errors import NotInTime

FAST = Outlook(wait_s=3.0, ttft_s=0.2, total_s=2.0)
SLOW = Outlook(wait_s=0.0, ttft_s=0.9, total_s=20.0)


def test_what_somebody_can_do_in_time_is_admitted() -> None:
    check_in_time([FAST, SLOW], arrived_s=100.0, now_s=100.0, ttft_slo_s=1.0)
    check_in_time([FAST, SLOW], arrived_s=100.0, now_s=100.0, deadline_s=106.0)


def test_without_a_promise_anything_is_in_time() -> None:
    check_in_time([FAST], arrived_s=0.0, now_s=1e6)


def test_without_a_replica_it_is_not_a_matter_of_time() -> None:
    check_in_time([], arrived_s=0.0, now_s=0.0, ttft_slo_s=0.1)


def test_a_late_first_token_is_refused_with_the_best_and_the_soonest() -> None:
    with pytest.raises(NotInTime, match=r"after 3\.20 s at best; 0\.50 s were promised\. .*in 3 s") as late:
        check_in_time([FAST], arrived_s=0.0, now_s=0.0, ttft_slo_s=0.5)
    assert late.value.retry_after_s == 3  # 2.7 s of the wait have to pass


def test_a_deadline_that_cannot_be_kept_is_refused() -> None:
    with pytest.raises(NotInTime, match=r"complete after 5\.00 s at best; its deadline is after 4\.00 s") as late:
        check_in_time([FAST], arrived_s=10.0, now_s=10.0, deadline_s=14.0)
    assert late.value.retry_after_s == 1


def test_one_replica_must_keep_both() -> None:
    """SLOW would keep the TTFT and FAST the deadline; a request goes to one of them."""
    with pytest.raises(NotInTime):
        check_in_time([FAST, SLOW], arrived_s=0.0, now_s=0.0, deadline_s=6.0, ttft_slo_s=1.0)


def test_time_already_spent_counts() -> None:
    check_in_time([SLOW], arrived_s=0.0, now_s=0.0, ttft_slo_s=1.0)
    with pytest.raises(NotInTime, match=r"after 1\.40 s at best") as late:
        check_in_time([SLOW], arrived_s=0.0, now_s=0.5, ttft_slo_s=1.0)
    assert late.value.retry_after_s == 1


def test_where_waiting_does_not_help_nobody_is_told_to_wait() -> None:
    with pytest.raises(NotInTime, match="No replica is fast enough even without a queue") as late:
        check_in_time([SLOW], arrived_s=0.0, now_s=0.0, deadline_s=5.0)
    assert late.value.retry_after_s is None


def test_the_soonest_may_be_another_replica_than_the_best_now() -> None:
    busy = Outlook(wait_s=8.0, ttft_s=0.1, total_s=1.0)
    with pytest.raises(NotInTime, match=r"after 0\.90 s at best; 0\.50 s were promised\. .*in 8 s") as late:
        check_in_time([SLOW, busy], arrived_s=0.0, now_s=0.0, ttft_slo_s=0.5)
    assert late.value.retry_after_s == 8
