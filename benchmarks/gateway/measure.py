"""One measure: a load on one gateway, with the CPU time its processes took meanwhile."""

import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks.gateway.running import Gateway
from benchmarks.gateway.scenarios import Scenario
from benchmarks.machine import stolen_cores_s
from benchmarks.process_cpu import tree_usage

ROOT = Path(__file__).resolve().parents[2]
STOLEN_MAX = 0.05  # of the cores' time
TRIES_MAX = 3
LOAD, PACED_LOAD = "benchmarks.gateway.load", "benchmarks.gateway.paced_load"


class LoadResult(Struct, frozen=True, kw_only=True):
    """What `load.py` prints."""

    requests: int
    elapsed_s: float
    p50_ms: float
    p99_ms: float
    refused: int
    incomplete: int
    broken: int
    gap_p50_ms: float = 0.0  # between what comes of a stream, where the engine has a pace
    gap_p99_ms: float = 0.0


class MeasureFailed(Exception):
    """The gateway did not stand the load; the load's own words are on stderr."""


class Sample(Struct, frozen=True, kw_only=True):
    """One gateway, one scenario, one round of one start."""

    gateway: str
    pid: int  # tells starts apart
    replicas: int
    scenario: str
    load: LoadResult
    cpu_us_per_request: float
    kernel_us_per_request: float | None  # of it
    rss_bytes: int
    stolen: float  # of the cores' time, by others on the same hardware


def measure(gateway: Gateway, scenario: Scenario, seconds: float, per_s: float | None = None) -> Sample:
    """The calmest of a few measures, where others on the same hardware took the processor away; else the first.

    Requests come so many a second; None: each when the one before is answered.
    """
    tried = []
    for _ in range(TRIES_MAX):
        tried.append(_measure(gateway, scenario, seconds, per_s))
        if tried[-1].stolen <= STOLEN_MAX:
            break
    return min(tried, key=lambda sample: sample.stolen)


def _measure(gateway: Gateway, scenario: Scenario, seconds: float, per_s: float | None) -> Sample:
    """CPU is read when the load is warm and idle, and again when the last answer is whole."""
    load_program, pace = (LOAD, ()) if per_s is None else (PACED_LOAD, (per_s,))
    arguments = (gateway.port, scenario.name, seconds, seconds / 4, *pace)
    command = [sys.executable, "-m", load_program, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as load:
        assert load.stdin is not None
        assert load.stdout is not None
        if load.stdout.readline() != "ready\n":
            raise MeasureFailed("no whole answer in the warm-up")
        began_s, stolen_before_s, before = time.monotonic(), stolen_cores_s(), tree_usage(gateway.pid)
        load.stdin.write("go\n")
        load.stdin.flush()
        line = load.stdout.readline()
        after = tree_usage(gateway.pid)
        stolen_s, took_s = stolen_cores_s() - stolen_before_s, time.monotonic() - began_s
    if not line:
        raise MeasureFailed("the load gave up")
    result = msgspec.json.decode(line, type=LoadResult)
    if not result.requests:
        raise MeasureFailed("no whole answer")
    return Sample(
        gateway=gateway.name,
        pid=gateway.pid,
        replicas=gateway.replicas,
        scenario=scenario.name,
        load=result,
        cpu_us_per_request=1e6 * (after.cpu_s - before.cpu_s) / result.requests,
        kernel_us_per_request=(
            None
            if after.kernel_s is None or before.kernel_s is None
            else 1e6 * (after.kernel_s - before.kernel_s) / result.requests
        ),
        rss_bytes=after.rss_bytes,
        stolen=stolen_s / took_s / (os.cpu_count() or 1),
    )
