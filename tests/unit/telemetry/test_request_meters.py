"""One finished request in the metrics."""

from heterodyne.domain.record import RequestRecord
from heterodyne.telemetry import metrics
from heterodyne.telemetry.request_meters import RequestMeters

MODEL = "only in this test"


def value(name: str) -> float:
    meter = next(meter for meter in metrics.ALL if meter.name == name)
    return sum(sum(sample.values[:-1] or sample.values) for sample in meter.samples() if sample.labels[0] == MODEL)


def test_a_request_is_counted_once_in_each_metric_that_speaks_of_it() -> None:
    meters = RequestMeters()
    for status, reason in ((200, ""), (499, "client_gone")):
        meters.observe(
            RequestRecord(
                id="1",
                at=0.0,
                operation="chat",
                model=MODEL,
                pool="p",
                status=status,
                reason=reason,
                prompt_tokens=7,
                cached_tokens=2,
                completion_tokens=3,
                ttft_ms=10.0 if status == 200 else None,
                total_ms=20.0,
                decision="fastest",
            )
        )
    assert value("heterodyne_gateway_requests_total") == 2
    assert value("heterodyne_gateway_prompt_tokens_total") == 14
    assert value("heterodyne_gateway_cached_tokens_total") == 4
    assert value("heterodyne_gateway_completion_tokens_total") == 6
    assert value("heterodyne_gateway_request_seconds") == 2
    assert value("heterodyne_gateway_ttft_seconds") == 1
    assert value("heterodyne_gateway_itl_seconds") == 0
    decided = metrics.decisions.cell((MODEL, "p", "fastest"))
    assert decided == [2.0]


def test_a_request_for_which_nobody_was_chosen_is_no_decision() -> None:
    before = metrics.decisions.samples()
    RequestMeters().observe(RequestRecord(id="1", at=0.0, operation="chat", model=MODEL, status=503))
    assert metrics.decisions.samples() == before
