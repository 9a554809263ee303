"""What settings must say of traces, one check at a time."""

import sys
from collections.abc import Mapping

import pytest

from heterodyne.config.checks import tracing_checks
from heterodyne.config.checks.catalogue import Check
from heterodyne.config.settings import Settings
from heterodyne.telemetry.settings import TelemetrySettings

URL = "http://127.0.0.1:4318/v1/traces"
ALL = (
    tracing_checks.traces_can_be_encoded,
    tracing_checks.the_collector_can_be_called,
    tracing_checks.headers_for_the_collector_are_present,
)


def found(*checks: Check, environment: Mapping[str, str] | None = None, **telemetry: str) -> list[str]:
    settings = Settings(telemetry=TelemetrySettings(**telemetry))  # type: ignore[arg-type]
    return [str(problem) for check in checks for problem in check(settings, environment or {})]


def test_traces_that_are_off_or_whole_have_no_problem() -> None:
    assert found(*ALL) == []
    environment = {"COLLECTOR": "authorization=Basic%20abc"}
    assert found(*ALL, traces_url=URL, traces_headers_env="COLLECTOR", environment=environment) == []
    assert found(*ALL, traces_url="https://otlp.example.com/v1/traces") == []


def test_without_the_library_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "opentelemetry"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "path_importer_cache", {})
    assert found(tracing_checks.traces_can_be_encoded, traces_url=URL) == [
        "telemetry.traces_url: needs OpenTelemetry, which is not installed; pip install 'heterodyne[otel]'"
    ]
    assert found(tracing_checks.traces_can_be_encoded) == [], "nobody needs it for nothing"


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("127.0.0.1:4318", "expected a URL"),
        ("file:///etc/passwd", "expected a URL"),
        ("http://", "expected a URL"),
        ("http://[::1", "not a URL"),
        ("http://h:x/v1/traces", "not a URL"),
        ("https://user:secret@h/v1/traces", "has a user or password"),
        ("http://h:4317", "4317 is where collectors listen for gRPC"),
    ],
)
def test_a_collector_that_cannot_be_called_is_refused(url: str, complaint: str) -> None:
    (problem,) = found(tracing_checks.the_collector_can_be_called, traces_url=url)
    assert problem.startswith(f"telemetry.traces_url: {complaint}")
    assert "secret" not in problem


def test_headers_that_are_not_there_are_missed() -> None:
    (problem,) = found(tracing_checks.headers_for_the_collector_are_present, traces_headers_env="COLLECTOR")
    assert problem.startswith("telemetry.traces_headers_env: the environment has no COLLECTOR")


def test_headers_that_cannot_be_read_are_not_shown() -> None:
    check = tracing_checks.headers_for_the_collector_are_present
    (problem,) = found(check, traces_headers_env="COLLECTOR", environment={"COLLECTOR": "secret"})
    assert "COLLECTOR in the environment: pair 1 is not of the form key=value" in problem
    assert "secret" not in problem
