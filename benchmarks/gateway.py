"""`make bench`: measure Heterodyne beside its peers in one run, print it, rewrite docs/benchmarks.md."""

import argparse
import datetime
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import msgspec

import page
import running
from environments import PeerUnavailable
from measure import MeasureFailed, Sample, measure
from peers import PEERS
from results import make_row
from running import Gateway
from scenarios import SCENARIOS

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
README = ROOT / "README.md"
OPENING, CLOSING = "<!-- benchmarks: written by `make bench` -->\n", "<!-- /benchmarks -->"


def main() -> int:
    """Exit status 1 when Heterodyne was asked for and could not be measured."""
    options = _options()
    names = options.only or list(PEERS)
    with tempfile.TemporaryDirectory(prefix="heterodyne-bench-") as folder, ExitStack() as stack:
        gateways, absent = _start(names, Path(folder), options.environments.resolve(), stack)
        samples = _rounds(gateways, options, absent)
    run = page.Run(
        day=datetime.datetime.now(datetime.UTC).date().isoformat(),
        rounds=options.rounds,
        seconds=options.seconds,
        rows=tuple(make_row(gateway, samples) for gateway in gateways),
        absent=absent,
    )
    print(page.tables(run))
    if options.json:
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode({"run": run, "samples": samples})))
    if not options.quick and not options.only and not options.scenario and "heterodyne" not in absent:
        PAGE.write_text(page.render(run), encoding="utf-8")
        README.write_text(_with_summary(README.read_text(encoding="utf-8"), page.summary(run)), encoding="utf-8")
        _say(f"wrote {PAGE.relative_to(ROOT)} and the table in {README.relative_to(ROOT)}")
    return 1 if "heterodyne" in absent else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="example: benchmarks/gateway.py --only heterodyne --only vllm-router --rounds 5"
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
    parser.add_argument("--rounds", type=int, default=3, help="times each measure is repeated (default: 3)")
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
        options.rounds, options.seconds = 1, 1.0
    return options


def _start(
    names: list[str], folder: Path, environments: Path, stack: ExitStack
) -> tuple[list[Gateway], dict[str, str]]:
    """The engine and every gateway that can be started; the others with the reason."""
    bare = stack.enter_context(running.upstream(folder))
    gateways, absent = [bare], {}
    for name in names:
        try:
            gateway = stack.enter_context(running.gateway(name, bare.port, folder, environments))
        except PeerUnavailable as unavailable:
            absent[name] = unavailable.reason
            _say(f"{name}: {unavailable}")
        else:
            gateways.append(gateway)
            _say(f"{name} {gateway.version} is up")
    return gateways, absent


def _rounds(gateways: list[Gateway], options: argparse.Namespace, absent: dict[str, str]) -> list[Sample]:
    """Every measure of every round; one that fails is noted beside the gateways that are absent."""
    samples = []
    for number in range(options.rounds):
        for name in options.scenario or SCENARIOS:
            for gateway in gateways:
                try:
                    sample = measure(gateway, SCENARIOS[name], options.seconds)
                except MeasureFailed as failed:
                    absent[f"{gateway.name} ({name})"] = str(failed)
                    _say(f"{gateway.name} ({name}): {failed}")
                    continue
                samples.append(sample)
                _say(
                    f"round {number + 1}  {name:8} {gateway.name:14} {sample.cpu_us_per_request:11,.1f} µs CPU  "
                    f"{sample.load.requests / sample.load.elapsed_s:10,.1f}/s  p50 {sample.load.p50_ms:8.2f} ms"
                )
    return samples


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
