"""What a worker traces with, where the settings ask for it."""

import os
import random
import socket
import time

from heterodyne import __version__
from heterodyne.config.settings import Settings
from heterodyne.gateway.tracer import Tracer
from heterodyne.telemetry.settings import TelemetrySettings
from heterodyne.telemetry.tracing.headers import read_headers
from heterodyne.telemetry.tracing.otlp import OtlpExporter


def try_exporter(settings: TelemetrySettings, name: str) -> OtlpExporter | None:
    """None: nothing is traced."""
    if not settings.traces_url:
        return None
    headers = read_headers(os.environ.get(settings.traces_headers_env, "")) if settings.traces_headers_env else {}
    resource = {"service.name": "heterodyne", "service.version": __version__, "service.instance.id": _instance(name)}
    return OtlpExporter(settings.traces_url, headers, resource=resource, version=__version__)


def tracer_of(settings: Settings, exporter: OtlpExporter) -> Tracer:
    """Of the worker whose spans it sends."""
    return Tracer(
        settings.telemetry,
        exporter.add,
        host=settings.gateway.host,
        port=settings.gateway.port,
        bits=random.Random().getrandbits,  # noqa: S311 - ids, which keep no secret
        clock=time.monotonic,
        wall_clock=time.time,
    )


def _instance(name: str) -> str:
    """Workers of several machines have the same names."""
    return f"{socket.gethostname()}/{name}/{os.getpid()}"
