"""One finished request in the metrics."""

from itertools import pairwise

import msgspec

from heterodyne.domain.record import RequestRecord
from heterodyne.telemetry import metrics
from heterodyne.telemetry.meters import Meter, Sample
from heterodyne.telemetry.request_meters import RequestMeters
from tests.support.requests_copied import ended

MODEL = "only in this test"
RECORD = RequestRecord(
    id="1",
    at=0.0,
    operation="chat",
    model=MODEL,
    pool="p",
    hardware="h100",
    tier="gold",
    status=200,
    prompt_tokens=7,
    cached_tokens=2,
    completion_tokens=3,
    ttft_ms=10.0,
    total_ms=20.0,
    decision="fastest",
    overhead_ms=0.06,
)


def value(name: str) -> float:
    meter = next(meter for meter in metrics.ALL if meter.name == name)
    return sum(sum(sample.values[:-1] or sample.values) for sample in meter.samples() if sample.labels[0] == MODEL)


def observed(meter: Meter, *records: RequestRecord) -> list[Sample]:
    """What counting these adds to a meter's label sets."""
    before = {sample.labels: sample.values for sample in meter.samples()}
    meters = RequestMeters()
    for record in records:
        meters.observe(ended(record))
    added = [
        Sample(
            sample.meter,
            sample.labels,
            [
                now - was
                for now, was in zip(sample.values, before.get(sample.labels, [0.0] * len(sample.values)), strict=True)
            ],
        )
        for sample in meter.samples()
    ]
    return [sample for sample in added if any(sample.values)]


def changed(**changes: object) -> RequestRecord:
    return msgspec.structs.replace(RECORD, **changes)


def test_a_request_is_counted_once_in_each_metric_that_speaks_of_it() -> None:
    meters = RequestMeters()
    meters.observe(ended(RECORD))
    meters.observe(ended(changed(status=499, reason="client_gone", ttft_ms=None)))
    assert value("heterodyne_gateway_requests_total") == 2
    assert value("heterodyne_gateway_prompt_tokens_total") == 14
    assert value("heterodyne_gateway_cached_tokens_total") == 4
    assert value("heterodyne_gateway_completion_tokens_total") == 6
    assert value("heterodyne_gateway_request_seconds") == 2
    assert value("heterodyne_gateway_ttft_seconds") == 1
    assert value("heterodyne_gateway_itl_seconds") == 0
    assert value("heterodyne_gateway_queue_seconds") == 0
    assert value("heterodyne_gateway_overhead_seconds") == 2
    decided = Sample("heterodyne_routing_decisions_total", (MODEL, "p", "fastest"), [2.0])
    assert [sample for sample in metrics.decisions.samples() if sample.labels[0] == MODEL] == [decided]


def test_a_request_for_which_nobody_was_chosen_is_no_decision_and_no_work_of_ours() -> None:
    alone = RequestRecord(id="1", at=0.0, operation="chat", model=MODEL, status=503)
    assert observed(metrics.decisions, alone) == []
    assert observed(metrics.overhead, alone) == []


def test_a_refusal_is_a_request_without_a_pool_and_in_no_histogram() -> None:
    refused = RequestRecord(
        id="1", at=0.0, operation="chat", model=MODEL, tier="gold", status=429, reason="rate_limit_exceeded"
    )
    meters, before = RequestMeters(), {sample.labels: sample.values[0] for sample in metrics.requests.samples()}
    timed = len(metrics.duration.samples())
    meters.refused(refused)
    labels = (MODEL, "", "", "interactive", "gold", "chat", "429", "rate_limit_exceeded", "refused_limit")
    assert metrics.requests.cell(labels)[0] - before.get(labels, 0.0) == 1.0
    assert len(metrics.duration.samples()) == timed


def test_the_outcome_follows_from_status_and_reason() -> None:
    added = observed(metrics.requests, RECORD, changed(status=502, reason="engine_broke"))
    assert [sample.labels[-3:] for sample in added] == [("200", "", "ok"), ("502", "engine_broke", "engine_error")]


def test_times_are_by_model_pool_hardware_class_and_tier() -> None:
    urgent, batch = changed(queue_ms=3000.0, itl_ms=15.0), changed(urgency="batch", tier="bronze", queue_ms=1.0)
    for meter in (metrics.ttft, metrics.duration, metrics.queue):
        assert [sample.labels for sample in observed(meter, urgent, batch)] == [
            (MODEL, "p", "h100", "interactive", "gold", "chat"),
            (MODEL, "p", "h100", "batch", "bronze", "chat"),
        ]
    (waited,) = observed(metrics.queue, urgent)
    assert waited.values[metrics.SECONDS.index(3.5)] == 1
    assert waited.values[-1] == 3.0
    (gap,) = observed(metrics.itl, urgent)
    assert gap.values[metrics.ITL_SECONDS.index(0.016)] == 1


def test_a_time_on_the_end_of_a_bucket_is_within_it() -> None:
    (sample,) = observed(metrics.ttft, changed(ttft_ms=500.0))
    assert sample.values[metrics.SECONDS.index(0.5)] == 1


def test_promises_are_counted_by_whether_they_were_kept() -> None:
    added = observed(metrics.slo_outcomes, changed(promise="kept"), changed(promise="broken"), changed(promise=""))
    assert {sample.labels: sample.values for sample in added} == {
        (MODEL, "p", "h100", "interactive", "gold", "kept"): [1.0],
        (MODEL, "p", "h100", "interactive", "gold", "broken"): [1.0],
    }


def test_dollars_and_the_replicas_time_add_up() -> None:
    records = (changed(usd=0.25, replica_s=1.5), changed(usd=0.5, replica_s=2.0), changed(usd=None, replica_s=0.5))
    (usd,) = observed(metrics.usd, *records)
    assert (usd.labels, usd.values) == ((MODEL, "p", "h100", "interactive", "gold"), [0.75])
    (seconds,) = observed(metrics.replica_seconds, *records)
    assert (seconds.labels, seconds.values) == ((MODEL, "p", "h100"), [4.0])


def test_our_own_work_and_the_connection_have_buckets_of_their_own() -> None:
    (overhead,) = observed(metrics.overhead, changed(overhead_ms=0.06))
    assert overhead.values[metrics.OVERHEAD_SECONDS.index(70e-6)] == 1
    (connect,) = observed(metrics.connect, changed(connect_ms=1.5), changed(connect_ms=None))
    assert connect.labels == ("p",)
    assert connect.values[metrics.CONNECT_SECONDS.index(0.002)] == 1


def test_a_prediction_is_beside_the_truth_unless_the_request_was_sent_again() -> None:
    (ratio,) = observed(
        metrics.ttft_prediction,
        changed(predicted_ttft_ms=20.0),
        changed(predicted_ttft_ms=20.0, retries=1),
        changed(predicted_ttft_ms=None),
        changed(predicted_ttft_ms=0.0),
        changed(predicted_ttft_ms=20.0, ttft_ms=None),
    )
    assert ratio.values[metrics.RATIOS.index(0.5)] == 1
    assert ratio.values[-1] == 0.5


def test_buckets_of_times_are_at_most_half_as_long_again_as_the_one_before_and_have_round_ends() -> None:
    for bounds in (metrics.SECONDS, metrics.ITL_SECONDS):
        assert all(1 < after / before < 1.5 for before, after in pairwise(bounds))
    assert (metrics.SECONDS[0], metrics.SECONDS[-1]) == (0.001, 600.0)
    assert (metrics.ITL_SECONDS[0], metrics.ITL_SECONDS[-1]) == (0.0005, 10.0)
    assert {0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 2.5, 5.0, 10.0} <= set(metrics.SECONDS)
