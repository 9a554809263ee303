"""The numbers of several workers as one Prometheus page."""

import math
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from heterodyne.telemetry import exposition, metrics
from heterodyne.telemetry.folded_meters import FoldedMeters
from heterodyne.telemetry.meters import Counter, Gauge, Histogram, Meter, Sample, SharedCounter, SharedGauge


def meters() -> tuple[Counter, Gauge, Histogram]:
    counter = Counter("requests_total", "Requests.", ("model",))
    gauge = Gauge("open", "Open now.")
    histogram = Histogram("seconds", "Times.", ("model",), bounds=(0.1, 1.0))
    counter.add(("a",), 2)
    gauge.set((), 5)
    for value in (0.05, 0.1, 0.5, 7.0):
        histogram.observe(("a",), value)
    return counter, gauge, histogram


def parsed(all_meters: tuple[Meter, ...], samples: list[Sample]) -> dict[tuple[str, str], float]:
    text = exposition.render(all_meters, samples).decode()
    return {
        (sample.name, sample.labels.get("le") or sample.labels.get("model", "")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_what_is_rendered_parses_back_to_the_numbers() -> None:
    all_meters = meters()
    found = parsed(all_meters, exposition.own_samples(all_meters))
    assert found["requests_total", "a"] == 2
    assert found["open", ""] == 5
    assert [found["seconds_bucket", bound] for bound in ("0.1", "1.0", "+Inf")] == [2, 3, 4]
    assert found["seconds_count", "a"] == 4
    assert found["seconds_sum", "a"] == 7.65


def test_every_metric_we_have_renders_and_is_named_for_its_room() -> None:
    names = [meter.name for meter in metrics.ALL]
    assert len(set(names)) == len(names)
    assert all(name.startswith("heterodyne_") for name in names)
    assert all(
        name.endswith("_total") == (meter.kind == "counter") for name, meter in zip(names, metrics.ALL, strict=True)
    )
    list(text_string_to_metric_families(exposition.render(metrics.ALL, exposition.own_samples(metrics.ALL)).decode()))


def test_whoever_is_asked_adds_the_others_to_its_own(tmp_path: Path) -> None:
    all_meters = meters()
    exposition.write_samples(tmp_path, "worker-0", [Sample("requests_total", ("a",), [100.0])])  # its own, and stale
    exposition.write_samples(tmp_path, "worker-1", [Sample("requests_total", ("a",), [3.0]), Sample("open", (), [1.0])])
    found = parsed(all_meters, list(exposition.gather(tmp_path, "worker-0", all_meters)))
    assert found["requests_total", "a"] == 5
    assert found["open", ""] == 6


def test_the_counters_of_a_worker_that_died_are_kept_and_its_gauges_are_not(tmp_path: Path) -> None:
    all_meters = meters()
    folded = FoldedMeters(tmp_path, all_meters)
    for _ in range(2):
        exposition.write_samples(
            tmp_path, "worker-1", [Sample("requests_total", ("a",), [3.0]), Sample("open", (), [1.0])]
        )
        folded.fold("worker-1")
        folded.fold("worker-1")
    found = parsed(all_meters, list(exposition.gather(tmp_path, "worker-0", all_meters)))
    assert found["requests_total", "a"] == 8
    assert found["open", ""] == 5
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folded.meters"]


def test_a_page_is_of_one_process_where_there_is_only_one() -> None:
    all_meters = meters()
    assert list(exposition.gather(None, "worker", all_meters)) == exposition.own_samples(all_meters)


def test_what_every_worker_sees_for_itself_is_not_added_up(tmp_path: Path) -> None:
    seen = SharedGauge("waiting", "Waiting.", ("model",))
    seen.set(("a",), 4)
    exposition.write_samples(tmp_path, "worker-1", [Sample("waiting", ("a",), [5.0]), Sample("waiting", ("b",), [1.0])])
    found = parsed((seen,), list(exposition.gather(tmp_path, "worker-0", (seen,))))
    assert (found["waiting", "a"], found["waiting", "b"]) == (5, 1)


def test_what_is_no_more_has_no_line() -> None:
    gauge = Gauge("ready", "Ready.", ("model",))
    gauge.set(("a",), 1)
    gauge.set(("b",), 1)
    gauge.forget(("a",))
    gauge.forget(("never",))
    assert [sample.labels for sample in gauge.samples()] == [("b",)]


def test_what_others_count_is_seen_once_and_dies_with_whoever_saw_it(tmp_path: Path) -> None:
    seen = SharedCounter("tokens_total", "Tokens.", ("model",))
    seen.raise_to(("a",), 10)
    seen.raise_to(("a",), 9)
    exposition.write_samples(tmp_path, "worker-1", [Sample("tokens_total", ("a",), [12.0])])
    assert parsed((seen,), list(exposition.gather(tmp_path, "worker-0", (seen,))))["tokens_total", "a"] == 12
    FoldedMeters(tmp_path, (seen,)).fold("worker-1")
    assert parsed((seen,), list(exposition.gather(tmp_path, "worker-0", (seen,))))["tokens_total", "a"] == 10
    seen.forget(("a",))
    seen.raise_to(("a",), 1)
    assert parsed((seen,), exposition.own_samples((seen,)))["tokens_total", "a"] == 1


def test_any_label_and_any_number_can_be_read_back() -> None:
    odd = 'a "quoted" \\ and\nbroken {name},le="1"'
    gauge = Gauge("odd", 'What "help" \\ says\nin two lines.', ("model",))
    histogram = Histogram("odd_seconds", "Times.", bounds=(0.1,))
    values = {odd: 1.5, "inf": math.inf, "-inf": -math.inf, "large": 1e22, "small": 1e-7, "whole": 3}
    for label, value in values.items():
        gauge.set((label,), value)
    histogram.observe((), 2.5)
    text = exposition.render((gauge, histogram), exposition.own_samples((gauge, histogram))).decode()
    first, second = text_string_to_metric_families(text)
    assert {sample.labels["model"]: sample.value for sample in first.samples} == values
    assert first.documentation == gauge.help
    assert {sample.name: sample.value for sample in second.samples if "le" not in sample.labels} == {
        "odd_seconds_count": 1,
        "odd_seconds_sum": 2.5,
    }


def test_a_number_that_is_none_reads_back_as_one() -> None:
    gauge = Gauge("odd", "Odd.")
    gauge.set((), math.nan)
    (family,) = text_string_to_metric_families(exposition.render((gauge,), gauge.samples()).decode())
    assert math.isnan(family.samples[0].value)


def test_samples_of_a_metric_that_is_no_more_are_left_out() -> None:
    assert exposition.render((), [Sample("gone_total", (), [1.0])]) == b""
