"""However many tenants there are and whatever they ask for, a page has a bounded number of lines."""

import msgspec
from prometheus_client.parser import text_string_to_metric_families

from heterodyne.console.tenants_now.pages import LimitUse
from heterodyne.domain.record import RequestRecord
from heterodyne.supervisor.meters.fleet import LIMITS_MAX, limit_samples
from heterodyne.telemetry import exposition, metrics
from heterodyne.telemetry.meters import LABEL_SETS_MAX, OVERFLOW, Counter
from heterodyne.telemetry.request_meters import RequestMeters
from heterodyne.testing import behaviours
from tests.support.gateways import gateway_over
from tests.support.raw_client import connected
from tests.support.requests import chat, get
from tests.support.requests_copied import ended

TENANTS = 10_000
WHO = {"tenant", "organisation", "project", "key", "user", "caller", "request", "request_id", "id"}
MODELS, TIERS, CLASSES = ("m1", "m2", "m3", "m4"), ("gold", "silver", "bronze"), ("", "batch", "background")


def test_no_metric_names_who_asks() -> None:
    assert all(WHO.isdisjoint(meter.labels) for meter in metrics.ALL)


def test_ten_thousand_tenants_have_as_many_lines_as_their_tiers() -> None:
    meters = RequestMeters()
    record = RequestRecord(id="", at=0.0, operation="chat", model="", pool="bounds", status=200, ttft_ms=1.0)
    before = samples_of("bounds")
    for number in range(TENANTS):
        one = msgspec.structs.replace(
            record,
            id=f"req_{number}",
            tenant=f"organisation-{number}/project",
            key=f"key-{number}",
            asked_model=f"whatever-{number}",
            model=MODELS[number % 4],
            tier=TIERS[number % 3],
            urgency=CLASSES[number % 3],
        )
        meters.observe(ended(one))
    sets = len(MODELS) * len(TIERS)
    assert before == 0
    assert len({sample.labels for sample in metrics.ttft.samples() if "bounds" in sample.labels}) == sets
    assert sum(sum(sample.values[:-1]) for sample in metrics.ttft.samples() if "bounds" in sample.labels) == TENANTS
    assert samples_of("bounds") <= sets * len(metrics.ALL)


def test_what_a_meter_is_told_past_its_bound_is_counted_under_one_name() -> None:
    counter = Counter("flooded_total", "Flooded.", ("model",))
    for number in range(TENANTS):
        counter.add((f"model-{number}",))
    samples = {sample.labels: sample.values for sample in counter.samples()}
    assert len(samples) == LABEL_SETS_MAX + 1
    assert samples[OVERFLOW,] == [TENANTS - LABEL_SETS_MAX]


def test_request_meters_forget_cells_rather_than_keep_any_number() -> None:
    meters = RequestMeters()
    record = RequestRecord(id="", at=0.0, operation="chat", model="flood", status=200)
    before = sum(sample.values[0] for sample in metrics.requests.samples())
    for number in range(3 * LABEL_SETS_MAX):
        meters.observe(ended(msgspec.structs.replace(record, reason=f"reason-{number}")))
    counted = [sample for sample in metrics.requests.samples() if sample.labels[0] in ("flood", OVERFLOW)]
    assert len(counted) <= LABEL_SETS_MAX + 1
    assert sum(sample.values[0] for sample in metrics.requests.samples()) - before == 3 * LABEL_SETS_MAX
    for sample in counted:
        metrics.requests.forget(sample.labels)


def test_only_the_most_used_limits_have_a_line() -> None:
    limits = [
        LimitUse(
            level=f"project:o/{number}", limit_name="tokens_per_minute", limit=TENANTS, used=number, resets_at=None
        )
        for number in range(TENANTS)
    ]
    samples = limit_samples(limits)
    assert len(samples) == LIMITS_MAX
    assert samples[0].labels == (f"project:o/{TENANTS - 1}", "tokens_per_minute")
    assert samples[0].values == [(TENANTS - 1) / TENANTS]


def series_of_models(exposed: list[str]) -> set[str]:
    return {line.rpartition(" ")[0] for line in exposed if 'model="' in line}


async def test_names_of_models_that_nobody_serves_are_no_labels() -> None:
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        assert (await client.ask(chat())).status == 200
        assert (await client.ask(chat(model="invented-0"))).status == 404
        before = lines(await client.ask(get("/metrics")))
        for number in range(1, 200):
            assert (await client.ask(chat(model=f"invented-{number}"))).status == 404
        after = lines(await client.ask(get("/metrics")))
    assert not any("invented" in line for line in after)
    assert series_of_models(after) == series_of_models(before)


def samples_of(pool: str) -> int:
    return sum(pool in sample.labels for sample in exposition.own_samples(metrics.ALL))


def lines(answer: object) -> list[str]:
    text = answer.body.decode()  # type: ignore[attr-defined]
    list(text_string_to_metric_families(text))
    return [line for line in text.splitlines() if not line.startswith("#")]
