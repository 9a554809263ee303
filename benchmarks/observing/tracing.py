"""What tracing costs: the same gateway with traces off, off once more, at one per cent and of every request.

Example: python -m benchmarks.observing.tracing --rounds 5. Rounds are interleaved, so that whatever else the machine
does meets all of them; the two that are off show how far apart equal gateways measure.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median

import msgspec
from msgspec import Struct

from benchmarks.gateway import running
from benchmarks.gateway.measure import measure
from benchmarks.gateway.peers import Place, heterodyne
from benchmarks.gateway.scenarios import REQUEST, STREAM

ROOT = Path(__file__).resolve().parents[2]
COLLECTOR = "collector"
SCENARIOS = {scenario.name: scenario for scenario in (REQUEST, STREAM)}
OFF = "off"
EVERY_TRACE = ("telemetry.traces_per_second_max=10000",)  # what one costs shows only where none is left out
MODES: dict[str, tuple[str, ...] | None] = {  # settings beside the collector's address; None: nobody is traced
    OFF: None,
    "off again": None,
    "1 %": ("telemetry.traces_sample_ratio=0.01",),
    "100 %": ("telemetry.traces_sample_ratio=1.0", *EVERY_TRACE),
}


class Row(Struct, frozen=True, kw_only=True):
    """One way to run, in one scenario: medians over the rounds."""

    mode: str
    scenario: str
    cpu_us_per_request: float
    ratio: float  # of that to the gateway that traces nobody, round by round
    p99_ms: float


def main() -> None:
    """Print a row for each mode and scenario."""
    if sys.argv[1:2] == [COLLECTOR]:
        _collect(int(sys.argv[2]))
        return
    options = _options()
    with tempfile.TemporaryDirectory(prefix="heterodyne-bench-") as temporary, ExitStack() as stack:
        folder = Path(temporary)
        (bare,) = stack.enter_context(running.upstream(folder))
        (port,) = running.free_ports(1)
        command = [sys.executable, "-m", "benchmarks.observing.tracing", COLLECTOR, str(port)]
        stack.enter_context(running.process(command, folder / "collector.log", folder=ROOT))
        gateways = {
            mode: stack.enter_context(_gateway(mode, more, bare.port, port, folder)) for mode, more in MODES.items()
        }
        rows = [row for name in SCENARIOS for row in _rows(name, gateways, options.rounds, options.seconds)]
    print("| Traces | Scenario | CPU per request | beside off | p99 |\n|---|---|--:|--:|--:|")
    for row in rows:
        scenario = SCENARIOS[row.scenario].title
        print(f"| {row.mode} | {scenario} | {row.cpu_us_per_request:.1f} µs | {row.ratio:.3f} | {row.p99_ms:.2f} ms |")
    if options.json:
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(rows)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="times each measure is repeated (default: 5)")
    parser.add_argument("--seconds", type=float, default=4.0, help="length of one measure (default: 4)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows")
    return parser.parse_args()


@contextmanager
def _gateway(
    mode: str, more: tuple[str, ...] | None, upstream_port: int, collector_port: int, folder: Path
) -> Iterator[running.Gateway]:
    own = folder / mode.replace(" ", "-")
    own.mkdir()
    port, spare_port = running.free_ports(2)
    place = Place(
        port=port,
        spare_port=spare_port,
        upstream_urls=(f"http://127.0.0.1:{upstream_port}",),
        folder=own,
        environments=ROOT / ".venv-bench",
    )
    launch = heterodyne(place)
    wanted = () if more is None else (f"telemetry.traces_url=http://127.0.0.1:{collector_port}/v1/traces", *more)
    program, *rest = launch.command
    command = [program, *(word for setting in wanted for word in ("--set", setting)), *rest]
    with running.process(command, own / "log", {**os.environ, **launch.environment}, own) as started:
        running.wait_valid(started, port, own / "log")
        yield running.Gateway(name=mode, version=launch.version, port=port, pid=started.pid)


def _rows(name: str, gateways: dict[str, running.Gateway], rounds: int, seconds: float) -> list[Row]:
    samples = [
        {mode: measure(gateway, SCENARIOS[name], seconds) for mode, gateway in gateways.items()} for _ in range(rounds)
    ]
    return [
        Row(
            mode=mode,
            scenario=name,
            cpu_us_per_request=median(one[mode].cpu_us_per_request for one in samples),
            ratio=median(one[mode].cpu_us_per_request / one[OFF].cpu_us_per_request for one in samples),
            p99_ms=median(one[mode].load.p99_ms for one in samples),
        )
        for mode in gateways
    ]


def _collect(port: int) -> None:
    """A collector that takes everything and looks at nothing, until it is ended."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Not a line for each batch."""

    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    main()
