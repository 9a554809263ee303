"""`make bench-workers`: what more workers give on one machine, how evenly they are asked, and the memory of each.

Keys, limits, queue and books are on, so whatever workers share is shared. Load and engine take their part of the same
cores: beyond half of them more workers can give little here.
"""

import argparse
import os
import tempfile
from functools import partial
from pathlib import Path

from msgspec import Struct

from benchmarks import machine
from benchmarks.gateway import running
from benchmarks.gateway.measure import Sample, measure
from benchmarks.gateway.peers import TENANTS, heterodyne_tenants
from benchmarks.gateway.scenarios import CROWD
from benchmarks.process_cpu import tree_running
from heterodyne.telemetry.build_form import build_form

WORKER = "heterodyne.assembly.worker"
MEMORY_TARGET_MIB = 60.0


class Measured(Struct, frozen=True, kw_only=True):
    """One number of workers."""

    sample: Sample
    shares: tuple[float, ...]  # of the workers' CPU, the least first
    private_mib: tuple[float, ...]  # of each worker, what no other process shares


def main() -> None:
    """Print."""
    options = _options()
    counts = options.workers or sorted({1, 2, os.cpu_count() or 1})
    print(f"{machine.describe()}, Heterodyne: {build_form()}; {options.keys:,} keys, {options.replicas} replicas,")
    print(f"{CROWD.connections} connections, {options.seconds:g} s\n")
    print("| workers | requests/s | CPU µs/request | least and most of a worker's share | private MiB of a worker |")
    print("|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory(prefix="heterodyne-bench-") as temporary:
        folder = Path(temporary)
        with running.upstream(folder, options.replicas) as engines:
            ports = [engine.port for engine in engines]
            for workers in counts:
                one = _measure(folder / str(workers), ports, workers, options.keys, options.seconds)
                print(
                    f"| {workers} | {one.sample.load.requests / one.sample.load.elapsed_s:,.0f} "
                    f"| {one.sample.cpu_us_per_request:.0f} | {one.shares[0]:.0%} to {one.shares[-1]:.0%} "
                    f"| {max(one.private_mib):.0f} (target {MEMORY_TARGET_MIB:.0f}) |",
                    flush=True,
                )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--workers", type=int, action="append", help="so many; may be repeated (default: 1, 2 and the cores)"
    )
    parser.add_argument("--keys", type=int, default=1000)
    parser.add_argument("--replicas", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=5.0)
    return parser.parse_args()


def _measure(folder: Path, ports: list[int], workers: int, keys: int, seconds: float) -> Measured:
    folder.mkdir()
    launcher = partial(heterodyne_tenants, workers=workers, keys=keys)
    with running.gateway(TENANTS, ports, folder, folder, launcher=launcher) as gateway:
        before = {one.pid: one.cpu_s for one in tree_running(gateway.pid, WORKER)}
        sample = measure(gateway, CROWD, seconds)
        after = tree_running(gateway.pid, WORKER)
        spent_s = sorted(one.cpu_s - before[one.pid] for one in after)
        private_mib = tuple(_private_mib(one.pid) for one in after)
    return Measured(
        sample=sample,
        shares=tuple(one_s / sum(spent_s) for one_s in spent_s),
        private_mib=private_mib,
    )


def _private_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024


if __name__ == "__main__":
    main()
