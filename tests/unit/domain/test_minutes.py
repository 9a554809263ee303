"""Records added up by the minute."""

from math import inf, log

import pytest

from heterodyne.domain.history import Sums
from heterodyne.domain.minute_tally import MinuteTally
from heterodyne.domain.minutes import (
    LABEL_SETS_MAX,
    OTHERS,
    Labels,
    bounded,
    merged_sums,
    minutes_of,
)
from heterodyne.domain.spread import bucket_of
from heterodyne.domain.usage import UsageRecord
from heterodyne.domain.usage_tally import UsageTally
from tests.support.plain_sums import add, sums_of
from tests.support.usage_records import record

LLAMA = Labels("llama", "h100", "", "gold", "interactive")


def test_a_record_belongs_to_the_minute_in_which_it_was_complete() -> None:
    noon = 1_793_534_400
    records = [record(1, at=noon - 0.001), record(2, at=float(noon)), record(3, at=noon + 59.999)]
    found = minutes_of(UsageTally(records), str)
    assert {minute: {labels: tally.requests for labels, tally in one.items()} for minute, one in found.items()} == {
        noon - 60: {LLAMA: 1},
        noon: {LLAMA: 2},
    }


def test_sums_are_those_of_the_records() -> None:
    sums = tallied(
        [
            record(1, ttft_ms=20.0, itl_ms=4.0, queue_ms=3.0, cached_tokens=9, usd_micro=5, replica_s=0.25),
            record(2, reason="stalled", status=502, ttft_ms=30.0, retries=2, is_hedged=True, promise="broken"),
            record(3, reason="queue_full", status=429, pool="", promise="broken", total_ms=0.5),
            record(4, promise="kept"),
        ]
    )
    assert (sums.requests, sums.errors, sums.refused) == (4, 2, 1)
    assert (sums.promised, sums.kept, sums.retried, sums.hedged) == (3, 1, 1, 1)
    assert (sums.prompt_tokens, sums.cached_tokens, sums.completion_tokens) == (400, 9, 28)
    assert (sums.usd_micro, sums.replica_us) == (5, 250_000)
    assert (sums.ttft.counts, sums.ttft.sum_ms) == ({bucket_of(20): 1, bucket_of(30): 1}, 50.0)
    assert (sums.total.counts, sums.total.sum_ms) == ({bucket_of(12.5): 3}, 37.5), (
        "where anything came, streamed or whole"
    )
    assert (sums.itl.sum_ms, sums.queue.sum_ms) == (4.0, 3.0)


def test_a_prediction_is_judged_by_the_try_it_was_for() -> None:
    there = {"ttft_ms": 20.0, "predicted_ttft_ms": 10.0, "itl_ms": 4.0, "predicted_itl_ms": 8.0}
    strange = [{"predicted_ttft_ms": 0.0, "predicted_itl_ms": inf}, {"ttft_ms": 0.0, "itl_ms": 0.0}]
    sums = tallied(
        [record(1, **there), record(2, **there, retries=1), *(record(3, **(there | one)) for one in strange)]
    )
    assert sums.ttft_error.sum_ms == pytest.approx(1000 * log(2))
    assert sums.itl_error.sum_ms == pytest.approx(1000 * log(2))
    assert sum(sums.ttft_error.counts.values()) == sum(sums.itl_error.counts.values()) == 1


def test_parts_add_up_to_the_whole() -> None:
    records = [record(number, ttft_ms=float(number), promise="kept") for number in range(1, 40)]
    assert merged_sums([sums_of(records[:13]), sums_of(records[13:])]) == sums_of(records)


def test_more_sets_of_labels_than_are_kept_become_one() -> None:
    many = {LLAMA._replace(model=f"m{number}"): sums(1) for number in range(LABEL_SETS_MAX + 50)}
    kept = bounded(many, ())
    assert len(kept) == LABEL_SETS_MAX
    assert kept[OTHERS].requests == 51
    assert sum(tally.requests for tally in kept.values()) == LABEL_SETS_MAX + 50


def test_sets_that_are_there_stay_themselves() -> None:
    known = [LLAMA._replace(model=f"m{number}") for number in range(LABEL_SETS_MAX - 1)]
    kept = bounded({known[3]: sums(2), LLAMA: sums(3), OTHERS: sums(4)}, known)
    assert {labels: tally.requests for labels, tally in kept.items()} == {known[3]: 2, OTHERS: 7}


def tallied(records: list[UsageRecord]) -> Sums:
    """By columns; one by one it is the same."""
    found = merged_sums(cell.sums() for cell in UsageTally(records).cells.values())
    assert found == sums_of(records)
    return found


def sums(requests: int) -> MinuteTally:
    tally = MinuteTally()
    for number in range(requests):
        add(tally, record(number))
    return tally
