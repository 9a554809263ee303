"""`make bench`: measure Heterodyne beside its peers in one run, print it, rewrite docs/benchmarks.md."""

import argparse
import datetime
import sys
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from functools import partial
from itertools import product
from pathlib import Path

import msgspec

from benchmarks.gateway import page, running
from benchmarks.gateway.environments import PeerUnavailable
from benchmarks.gateway.failing_upstream import Failure
from benchmarks.gateway.failover import Failover, measure_failover
from benchmarks.gateway.many_replicas import NAMES, REPLICAS, Measured, measure_many, pair_up
from benchmarks.gateway.measure import MeasureFailed, Sample, measure
from benchmarks.gateway.peers import HETERODYNE, PEERS
from benchmarks.gateway.results import make_row
from benchmarks.gateway.running import Gateway
from benchmarks.gateway.scenarios import HALF, MEASURED, REQUEST, SCENARIOS
from benchmarks.tls.measure import measure_tls
from heterodyne.telemetry.build_form import build_form

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "benchmarks.md"
README = ROOT / "README.md"
GATEWAYS, MANY, FAILOVER, TLS = SECTIONS = ("gateways", "replicas", "failover", "tls")
FAILOVER_S_MIN = 4.0
PACE_MAX = 5000.0  # requests a second that the load can pace; half of the bare engine's would be many more
OPENING, CLOSING = "<!-- benchmarks: written by `make bench` -->\n", "<!-- /benchmarks -->"


def main() -> int:
    """Exit status 1 when Heterodyne was asked for and could not be measured."""
    options = _options()
    sections = options.section or list(SECTIONS)
    names = (options.only or list(PEERS)) if GATEWAYS in sections else []
    if MANY in sections and GATEWAYS not in sections:
        names = [name for name in options.only or PEERS if name in NAMES[REPLICAS]]
    absent: dict[str, str] = {}
    samples: list[Sample] = []
    many: list[Measured] = []
    gateways: dict[str, Gateway] = {}
    rounds = partial(_rounds, options=options, absent=absent)
    for start in range(options.starts):
        with tempfile.TemporaryDirectory(prefix="heterodyne-bench-") as temporary, ExitStack() as stack:
            folder, environments = Path(temporary), options.environments.resolve()
            started = _start(names, folder, environments, stack, absent)
            _say(f"start {start + 1} of {options.starts}: {len(started)} are up")
            gateways |= {gateway.name: gateway for gateway in started}
            if GATEWAYS in sections:
                samples += rounds(started, options.scenario or [scenario.name for scenario in MEASURED])
            if MANY in sections:
                many += measure_many(started, rounds, folder, environments, absent)
    failovers = _failovers(options, absent) if FAILOVER in sections else ()
    run = page.Run(
        day=datetime.datetime.now(datetime.UTC).date().isoformat(),
        starts=options.starts,
        rounds=options.rounds,
        seconds=options.seconds,
        form=build_form(),
        rows=tuple(make_row(gateway, samples) for gateway in gateways.values()) if samples else (),
        many=pair_up(many),
        failovers=failovers,
        tls=measure_tls(options.starts * options.rounds, options.seconds) if TLS in sections else (),
        absent=absent,
    )
    print(page.tables(run))
    if options.json:
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode({"run": run, "samples": samples})))
    is_whole = not (options.quick or options.only or options.scenario or options.section)
    if is_whole and HETERODYNE not in absent:
        PAGE.write_text(page.render(run), encoding="utf-8")
        README.write_text(_with_summary(README.read_text(encoding="utf-8"), page.summary(run)), encoding="utf-8")
        _say(f"wrote {PAGE.relative_to(ROOT)} and the table in {README.relative_to(ROOT)}")
    return 1 if HETERODYNE in absent else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="example: python -m benchmarks.gateway.run --only heterodyne --only vllm-router --starts 3",
    )
    parser.add_argument("--quick", action="store_true", help="one round of one second; the page is left alone")
    parser.add_argument(
        "--only",
        action="append",
        choices=list(PEERS),
        metavar="NAME",
        help="measure this gateway; may be repeated; the page is left alone",
    )
    parser.add_argument(
        "--scenario",
        action="append",
        choices=list(SCENARIOS),
        metavar="NAME",
        help=f"one of {', '.join(SCENARIOS)}; may be repeated; the page is left alone",
    )
    parser.add_argument(
        "--section",
        action="append",
        choices=SECTIONS,
        metavar="NAME",
        help=f"one of {', '.join(SECTIONS)}; may be repeated; the page is left alone",
    )
    parser.add_argument("--starts", type=int, default=5, help="times every gateway is started (default: 5)")
    parser.add_argument("--rounds", type=int, default=1, help="times each measure is repeated in a start (default: 1)")
    parser.add_argument("--seconds", type=float, default=4.0, help="length of one measure (default: 4)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample")
    parser.add_argument(
        "--environments",
        type=Path,
        default=ROOT / ".venv-bench",
        metavar="FOLDER",
        help="where peers are installed (default: .venv-bench)",
    )
    options = parser.parse_args()
    if options.quick:
        options.starts, options.rounds, options.seconds = 1, 1, 1.0
    return options


def _start(
    names: list[str], folder: Path, environments: Path, stack: ExitStack, absent: dict[str, str]
) -> list[Gateway]:
    """The engine and every gateway that can be started; the others are noted with the reason."""
    if not names:
        return []
    (bare,) = stack.enter_context(running.upstream(folder))
    gateways = [bare]
    for name in names:
        try:
            gateway = stack.enter_context(running.gateway(name, [bare.port], folder, environments))
        except PeerUnavailable as unavailable:
            absent[name] = unavailable.reason
            _say(f"{name}: {unavailable}")
        else:
            gateways.append(gateway)
            _say(f"{name} {gateway.version} is up")
    return gateways


def _rounds(
    gateways: list[Gateway],
    scenarios: Iterable[str],
    *,
    options: argparse.Namespace,
    absent: dict[str, str],
) -> list[Sample]:
    """Every measure of every round; one that fails is noted beside the absent gateways."""
    samples = []
    for number, name, gateway in product(range(options.rounds), scenarios, gateways):
        title = gateway.name if gateway.replicas == 1 else f"{gateway.name} x{gateway.replicas}"
        try:
            sample = measure(gateway, SCENARIOS[name], options.seconds, _pace(name, gateway, samples))
        except MeasureFailed as failed:
            absent[f"{title} ({name})"] = str(failed)
            _say(f"{title} ({name}): {failed}")
            continue
        samples.append(sample)
        _say(
            f"round {number + 1}  {name:8} {title:17} {sample.cpu_us_per_request:11,.1f} µs CPU  "
            f"{sample.load.requests / sample.load.elapsed_s:10,.1f}/s  p50 {sample.load.p50_ms:8.2f} ms"
        )
    return samples


def _pace(scenario: str, gateway: Gateway, samples: Iterable[Sample]) -> float | None:
    """Half of what this start bore with a request behind each other; None: as fast as it goes."""
    if scenario != HALF.name:
        return None
    bore = [one for one in samples if one.pid == gateway.pid and one.scenario == REQUEST.name]
    if not bore:
        raise MeasureFailed(f"half of what it bears is not known without the scenario {REQUEST.name!r}")
    return min(bore[-1].load.requests / bore[-1].load.elapsed_s / 2, PACE_MAX)


def _failovers(options: argparse.Namespace, absent: dict[str, str]) -> tuple[Failover, ...]:
    """Alone on the machine: these are latencies."""
    found = []
    with tempfile.TemporaryDirectory(prefix="heterodyne-bench-") as folder:
        for failure in Failure:
            try:
                one = measure_failover(
                    failure, max(FAILOVER_S_MIN, options.starts * options.rounds * options.seconds), Path(folder)
                )
            except PeerUnavailable as unavailable:
                absent[f"failover ({failure})"] = unavailable.reason
                _say(f"failover ({failure}): {unavailable}")
            else:
                found.append(one)
                _say(f"failover  {failure:8} {one.failovers} times, {one.added_ms:.2f} ms added at p50")
    return tuple(found)


def _with_summary(readme: str, summary: str) -> str:
    before, opening, rest = readme.partition(OPENING)
    _, closing, after = rest.partition(CLOSING)
    assert opening, "the README lost the mark of its table"
    assert closing, "the README lost the mark of its table"
    return f"{before}{opening}{summary}\n{closing}{after}"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
