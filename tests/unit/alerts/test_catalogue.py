"""The catalogue as a whole."""

import re

import pytest

from heterodyne.alerts.alert import Alert, Severity
from heterodyne.alerts.catalogue import ALERTS
from heterodyne.alerts.recordings import recordings
from heterodyne.alerts.rules import rules_file
from heterodyne.alerts.settings import AlertSettings
from heterodyne.domain.outcome import RequestOutcome
from heterodyne.telemetry.meters import Histogram
from heterodyne.telemetry.metrics import ALL

METRIC = re.compile(r"\bheterodyne_[a-z0-9_]+")
RECORDED = re.compile(r"\bheterodyne:[a-z0-9_]+:[a-z0-9_]+")
LABELS = re.compile(r"\b(heterodyne_[a-z0-9_]+)\{([^}]*)\}")
EXPORTED = {meter.name: meter for meter in ALL} | {
    f"{meter.name}{suffix}": meter
    for meter in ALL
    if isinstance(meter, Histogram)
    for suffix in ("_bucket", "_sum", "_count")
}


def expressions() -> list[str]:
    settings = AlertSettings()
    alerts = [alert.expression(settings) for alert in ALERTS]
    return [*(one.expression for one in recordings()), *(one for one in alerts if one is not None)]


def test_names_are_given_once() -> None:
    names = [alert.name for alert in ALERTS]
    assert len(set(names)) == len(names)
    assert len({alert.prometheus_name for alert in ALERTS}) == len(names)


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.name)
def test_an_alert_says_a_sentence_about_its_subject(alert: Alert) -> None:
    assert alert.summary.endswith(".")
    assert ("{subject}" in alert.summary) is bool(alert.labels)
    assert isinstance(alert.severity, Severity)


def test_rules_ask_only_for_metrics_that_are_exported() -> None:
    asked = {name for expression in expressions() for name in METRIC.findall(expression)}
    assert asked
    assert asked - set(EXPORTED) == set()


def test_rules_ask_only_for_labels_that_the_metrics_have() -> None:
    for expression in expressions():
        for name, matchers in LABELS.findall(expression):
            labels = re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", matchers)
            assert set(labels) <= set(EXPORTED[name].labels), name


def test_series_that_rules_rest_on_are_recorded_before_them() -> None:
    known: set[str] = set()
    for one in recordings():
        assert set(RECORDED.findall(one.expression)) <= known, one.name
        known.add(one.name)
    settings = AlertSettings()
    asked = {name for alert in ALERTS for name in RECORDED.findall(alert.expression(settings) or "")}
    assert asked <= known


def test_thresholds_of_the_settings_are_in_the_rules() -> None:
    settings = AlertSettings(slo_target=0.999, ttft_p99_ms=1500.0, ttft_p999_ms=None, saturation_max=0.7)
    rules = {str(rule["alert"]): str(rule["expr"]) for rule in rules_file(settings)["groups"][1]["rules"]}  # type: ignore[index, union-attr]
    assert "> 0.0144" in rules["HeterodyneFailedRequestsBurnFast"]
    assert "> 1.5 " in rules["HeterodyneTtftP99High"]
    assert "HeterodyneTtftP999High" not in rules
    assert rules["HeterodyneKvFull"].endswith("> 0.7")


def test_rules_see_refusals_for_want_of_room_and_leave_out_those_of_limits() -> None:
    recorded = {one.name: one.expression for one in recordings()}
    assert "refused_capacity" in recorded["heterodyne:faults:rate5m"]
    assert "refused_limit" not in recorded["heterodyne:faults:rate5m"]
    assert "refused_limit" in recorded["heterodyne:refusals:rate5m"]
    outcomes = set(re.findall(r"[a-z]+_[a-z]+|timeout", recorded["heterodyne:faults:rate5m"].partition('=~"')[2]))
    assert outcomes <= set(RequestOutcome)
