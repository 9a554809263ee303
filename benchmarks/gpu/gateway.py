"""`heterodyne serve` before the replicas, and what it wrote down of what passed."""

import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks.gpu.replicas import Replica
from heterodyne.domain.record import RequestRecord
from heterodyne.testing.serve_process import ServeProcess

GAUGES_S = 2.5  # until each worker has brought its gauges up to date and written them down
ASK_S_MAX = 10.0
FORECASTS = re.compile(
    r'^heterodyne_routing_forecasts_total\{outcome="(\w+)",pool="([^"]+)",what="(\w+)"\} (\S+)$', re.MULTILINE
)
Covered = dict[tuple[str, str, str], int]  # by pool, what is forecast (ttft, itl), and outcome (within, outside)


class Rules(Struct, frozen=True, kw_only=True):
    """What the gateway is told of its model and its replicas."""

    model: str
    hardware: str
    policy: str = "slo"
    slo_ttft_ms: float | None = None
    slo_itl_ms: float | None = None
    profiles: Path | None = None  # made by a calibration; None: it knows what it ships with


class Gateway:
    """One that runs."""

    def __init__(self, serve: ServeProcess, folder: Path) -> None:
        self.url = serve.url
        self._serve = serve
        self._folder = folder

    def covered(self) -> Covered:
        """How many forecasts it has learned from, and how many of what came was within the span that was told."""
        time.sleep(GAUGES_S)
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=ASK_S_MAX) as answer:
            return {
                (pool, what, outcome): int(float(count))
                for outcome, pool, what, count in FORECASTS.findall(answer.read().decode())
            }

    def end(self) -> list[RequestRecord]:
        """Stopped; what it wrote down, in the order of ends."""
        self._serve.stop()
        lines = (self._folder / "records.jsonl").read_bytes().splitlines()
        return [msgspec.json.decode(line, type=RequestRecord) for line in lines]


@contextmanager
def gateway(replicas: Sequence[Replica], rules: Rules, folder: Path) -> Iterator[Gateway]:
    """Ready when the block begins; its folder is its own."""
    folder.mkdir(parents=True)
    records = {"HETERODYNE_TELEMETRY__RECORDS": str(folder / "records.jsonl"), "XDG_DATA_HOME": str(folder)}
    with ServeProcess(folder, config=settings(replicas, rules), environment=records) as serve:
        serve.wait_ready()
        yield Gateway(serve, folder)


def settings(replicas: Sequence[Replica], rules: Rules) -> str:
    """A pool for each replica."""
    parts = [] if rules.profiles is None else [f'[physics]\nprofiles = ["{rules.profiles}"]\n']
    parts += [_pool(one, rules) for one in replicas]
    model = f'[models."{rules.model}"]\npolicy = "{rules.policy}"\n'
    for name, value in (("slo_ttft_ms", rules.slo_ttft_ms), ("slo_itl_ms", rules.slo_itl_ms)):
        model += "" if value is None else f"{name} = {value:g}\n"
    return "\n".join([*parts, model])


def calibrated(url: str, rules: Rules, file: Path, *, budget_s: float) -> str:
    """A profile of the one replica behind this gateway, kept in a file; what the command said."""
    words = ("calibrate", url, "--hardware", rules.hardware, "--model", rules.model, "--precision", "bf16")
    bounds = ("--points", "6", "--budget-s", f"{budget_s:g}", "--concurrency-max", "32", "--context-max", "2048")
    command = [sys.executable, "-m", "heterodyne", *words, *bounds, "--output", str(file), "--force"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=budget_s + 60, check=False)
    return said.stdout + said.stderr


def _pool(one: Replica, rules: Rules) -> str:
    return (
        f'[pools.{one.name}]\nmodel = "{rules.model}"\nengine = "{one.engine.dialect}"\nurls = ["{one.url}"]\n'
        f'engine_model = "{one.folder}"\nhardware = "{rules.hardware}"\nprecision = "bf16"\n'
        "context_tokens = 4096\nchecks_memory = false\n"
    )
