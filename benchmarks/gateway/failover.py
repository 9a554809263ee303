"""What a failed first attempt adds: requests for a pool with a failing replica and for one without, in turn."""

import http.client
import json
import socket
import sys
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

from msgspec import Struct

from benchmarks.gateway.environments import PeerUnavailable
from benchmarks.gateway.failing_upstream import Failure
from benchmarks.gateway.running import ROOT, free_ports, process, wait_valid
from benchmarks.gateway.scenarios import ALONE
from benchmarks.gateway.upstream import MODEL

ALONE_MODEL = "mock-alone"
CONNECTS = 200
RECORDS_S = 1.0  # records are written a few times a second
SAMPLES_MIN = 10
TIMEOUT_S = 10.0
# Whoever fails is asked again every time: neither ejected, nor behind a breaker, nor taken back slowly.
SETTINGS = """\
[gateway]
port = {port}

[console]
listens = false

[telemetry]
records = "{records}"

[routing]
ejection_share_max = 0
breaker_failures = 1000
breaker_window_s = 0.001
slow_start_s = 0.001

[pools.failing]
model = "{model}"
urls = ["http://127.0.0.1:{failing_port}", "http://127.0.0.1:{well_port}"]

[pools.well]
model = "{alone_model}"
engine_model = "{model}"
urls = ["http://127.0.0.1:{well_port}"]
"""


class Failover(Struct, frozen=True, kw_only=True):
    """One way to fail; times are medians."""

    failure: Failure
    failovers: int  # requests whose first attempt failed
    lost: int  # requests that were not answered 200
    well_ms: float
    failed_ms: float
    connect_ms: float
    engine_ms: float  # the engine itself, asked on a new connection: one connect and its prefill

    @property
    def added_ms(self) -> float:
        return self.failed_ms - self.well_ms


class Answered(NamedTuple):
    """One request, as its client saw it."""

    id: str
    status: int
    took_s: float


def measure_failover(failure: Failure, seconds: float, folder: Path) -> Failover:
    """Start the pair and a gateway, ask one at a time; raises PeerUnavailable when too little was seen."""
    own = folder / f"failover-{failure}"
    own.mkdir()
    well_port, failing_port, port = free_ports(3)
    records, settings = own / "records.jsonl", own / "heterodyne.toml"
    settings.write_text(
        SETTINGS.format(
            port=port,
            records=records,
            model=MODEL,
            alone_model=ALONE_MODEL,
            failing_port=failing_port,
            well_port=well_port,
        )
    )
    pair = [sys.executable, "-m", "benchmarks.gateway.failing_upstream", str(well_port), str(failing_port), failure]
    heterodyne = [str(Path(sys.executable).with_name("heterodyne")), "--config", str(settings), "serve"]
    with process(pair, own / "upstream.log", folder=ROOT) as engines, process(heterodyne, own / "log") as gateway:
        wait_valid(engines, well_port, own / "upstream.log")
        wait_valid(gateway, port, own / "log")
        failing, well, direct = _ask_in_turn(port, well_port, seconds)
        connect_ms = 1000 * median(_connect_s(well_port) for _ in range(CONNECTS))
        time.sleep(RECORDS_S)
    retried = {record["id"] for record in map(json.loads, records.read_text().splitlines()) if record.get("retries")}
    failed_over = [one for one in failing if one.id in retried and one.status == 200]
    if len(failed_over) < SAMPLES_MIN:
        raise PeerUnavailable(f"only {len(failed_over)} requests met the failing replica")
    return Failover(
        failure=failure,
        failovers=len(failed_over),
        lost=sum(one.status != 200 for one in failing),
        well_ms=1000 * median(one.took_s for one in well),
        failed_ms=1000 * median(one.took_s for one in failed_over),
        connect_ms=connect_ms,
        engine_ms=1000 * median(one.took_s for one in direct),
    )


def _ask_in_turn(port: int, well_port: int, seconds: float) -> tuple[list[Answered], list[Answered], list[Answered]]:
    """Both pools and the engine itself get the same request in turn: a busy moment of the machine falls on all."""
    failing, well, direct = [], [], []
    gateway = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    _ask(gateway, ALONE_MODEL)  # the connection is made here and kept
    ends_at_s = time.perf_counter() + seconds
    while time.perf_counter() < ends_at_s:
        failing.append(_ask(gateway, MODEL))
        well.append(_ask(gateway, ALONE_MODEL))
        engine = http.client.HTTPConnection("127.0.0.1", well_port, timeout=TIMEOUT_S)
        direct.append(_ask(engine, MODEL))
        engine.close()
    gateway.close()
    return failing, well, direct


def _ask(connection: http.client.HTTPConnection, model: str) -> Answered:
    body = ALONE.body(model)
    began_s = time.perf_counter()
    connection.request("POST", "/v1/chat/completions", body=body, headers={"content-type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    took_s = time.perf_counter() - began_s
    return Answered(answer.headers.get("x-request-id", ""), answer.status, took_s)


def _connect_s(port: int) -> float:
    began_s = time.perf_counter()
    with socket.create_connection(("127.0.0.1", port)):
        return time.perf_counter() - began_s
