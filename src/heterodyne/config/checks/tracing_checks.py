"""Checks of traces: a collector that can be called, and the library that speaks to it."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from urllib.parse import urlsplit

from heterodyne.config.problems import SettingProblem
from heterodyne.config.settings import Settings
from heterodyne.telemetry.settings import INSTALL_OTEL
from heterodyne.telemetry.tracing.headers import read_headers

EXAMPLE = "http://127.0.0.1:4318/v1/traces"
URL, HEADERS = "telemetry.traces_url", "telemetry.traces_headers_env"


def traces_can_be_encoded(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """OpenTelemetry's library is not part of the base install."""
    if settings.telemetry.traces_url and not _has_library():
        yield SettingProblem(path=URL, message=f"needs OpenTelemetry, which is not installed; {INSTALL_OTEL}")


def the_collector_can_be_called(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """By HTTP, and without a password, which every reader of the file would have."""
    url = settings.telemetry.traces_url
    complaint = _complaint(url) if url else ""
    if complaint:
        yield SettingProblem(path=URL, message=complaint)


def headers_for_the_collector_are_present(
    settings: Settings, environment: Mapping[str, str]
) -> Iterator[SettingProblem]:
    """The variable that is named is set, and can be read."""
    name = settings.telemetry.traces_headers_env
    if not name:
        return
    if name not in environment:
        yield SettingProblem(path=HEADERS, message=f"the environment has no {name}; set it to key=value,key=value")
        return
    try:
        read_headers(environment[name])
    except ValueError as error:
        yield SettingProblem(path=HEADERS, message=f"{name} in the environment: {error}; set it to key=value,key=value")


def _has_library() -> bool:
    try:
        return find_spec("opentelemetry.proto.collector.trace.v1.trace_service_pb2") is not None
    except ModuleNotFoundError:
        return False


def _complaint(url: str) -> str:
    """Empty: none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return f"not a URL; expected one such as {EXAMPLE}"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return f"expected a URL such as {EXAMPLE}"
    if parts.username is not None or parts.password is not None:
        return f"has a user or password in it; put a header into the environment, and its name into {HEADERS}"
    if port == 4317:
        return f"4317 is where collectors listen for gRPC; expected HTTP, mostly at 4318, such as {EXAMPLE}"
    return ""
