"""`make bench-routing-live`: one fleet in real time, emulated engines behind the gateway, beside its simulation."""

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import msgspec
import uvloop
from msgspec import structs

from benchmarks.emulated_fleet import GATEWAY
from benchmarks.machine import describe, idle_cores_s
from benchmarks.mean_capacity import mean_capacity_rps
from benchmarks.routing_live.client import OUTPUT_TOKENS_MAX, Reply, replay
from benchmarks.routing_live.fleet import CONTEXT_TOKENS, MODEL, Rules, laid_out, live_fleet
from benchmarks.routing_live.page import Comparison, Figures, LiveRun, Results, placed, section
from benchmarks.traces.traces import AZURE, read_traces
from heterodyne.physics.serving import Slo
from heterodyne.simulator.fleet import LaidOutPool
from heterodyne.simulator.report import report
from heterodyne.simulator.run import run
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import SimulatedRequest, Workload, workload

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "routing-bakeoff.md"
RESULTS = Path(__file__).with_name("routing_live.json")
POLICIES = ("slo", "cost")
LATE_S_MAX, LATE_SEEDS = 0.003, 5  # the simulation again with arrivals up to so late: what a little noise changes
# The simulator knows no second attempts, and takes every replica for able to hold what the router gives it.
AS_SIMULATED = "[routing]\nhedge_share = 0.0\nconcurrency_min = 1024\n"


def main() -> int:
    """Print the section, and write it where it is kept."""
    options = _options()
    slo = Slo(ttft_s=options.slo_ttft_ms / 1000, itl_s=options.slo_itl_ms / 1000)
    comparisons = [_comparison(policy, slo, options) for policy in options.policy or POLICIES]
    results = Results(day=datetime.now(UTC).date().isoformat(), machine=describe(), comparisons=comparisons)
    text = section(results)
    if not options.no_page:
        RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")
        if PAGE.exists():
            PAGE.write_text(placed(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")
    print(text)
    return 0


def _comparison(policy: str, slo: Slo, options: argparse.Namespace) -> Comparison:
    pools = laid_out()
    traffic, rate = _traffic(pools, slo, options)
    trial = Trial(policy=policy, seed=options.seed, slo=slo)
    runs = []
    for number in range(options.runs):
        print(f"{policy}: run {number + 1} of {options.runs}, {len(traffic.arrivals)} requests", file=sys.stderr)
        runs.append(
            _live(traffic.arrivals, Rules(policy=policy, slo=slo, more="" if options.defaults else AS_SIMULATED))
        )
    return Comparison(
        policy=policy,
        slo_ttft_ms=1000 * slo.ttft_s,
        slo_itl_ms=1000 * slo.itl_s,
        load=options.load,
        requests_per_s=rate,
        requests=len(traffic.arrivals),
        arrivals_s=traffic.arrivals[-1].at_s,
        has_default_settings=options.defaults,
        simulated=_simulated(pools, traffic, trial),
        simulated_late=[_simulated(pools, _late(traffic, seed), trial) for seed in range(LATE_SEEDS)],
        live=runs,
    )


def _traffic(pools: Sequence[LaidOutPool], slo: Slo, options: argparse.Namespace) -> tuple[Workload, float]:
    """The trace from where the seed begins, without what is too long for the fleet."""
    trace = read_traces(options.data)[AZURE]
    rate = options.load * mean_capacity_rps(pools, workload(trace.part(options.seed, 20_000)), slo)
    wanted = int(rate * options.seconds)
    log = [
        one
        for one in trace.part(options.seed, 2 * wanted)
        if one.prompt_tokens + OUTPUT_TOKENS_MAX <= CONTEXT_TOKENS and one.output_tokens <= OUTPUT_TOKENS_MAX
    ][:wanted]
    return workload(log, rate=rate), rate


def _simulated(pools: Sequence[LaidOutPool], traffic: Workload, trial: Trial) -> Figures:
    found = report(run(pools, traffic, trial), trial)
    return Figures(
        attainment=found.attainment,
        ttft_p50_s=found.ttft.p50_s,
        ttft_p99_s=found.ttft.p99_s,
        itl_p50_s=found.itl.p50_s,
        itl_p99_s=found.itl.p99_s,
        pools={pool.pool: pool.requests for pool in found.pools},
    )


def _late(traffic: Workload, seed: int) -> Workload:
    chance = Random(f"late {seed}")
    moved = sorted(
        (structs.replace(one, at_s=one.at_s + chance.uniform(0, LATE_S_MAX)) for one in traffic.arrivals),
        key=lambda one: one.at_s,
    )
    return structs.replace(traffic, arrivals=tuple(structs.replace(one, number=n) for n, one in enumerate(moved)))


def _live(arrivals: Sequence[SimulatedRequest], rules: Rules) -> LiveRun:
    with tempfile.TemporaryDirectory() as name, live_fleet(Path(name), rules) as fleet:
        before, own_before_s, idle_before_s, began_s = (
            fleet.cpu_s(),
            time.process_time(),
            idle_cores_s(),
            time.monotonic(),
        )
        replies, failures = uvloop.run(replay(fleet.url, MODEL, arrivals))
        took_s, own_s, idle_s, after = (
            time.monotonic() - began_s, time.process_time() - own_before_s, idle_cores_s(), fleet.cpu_s(),
        )  # fmt: skip
        records = fleet.end()
        behind = fleet.behind()
    cores = {name: (after[name] - before[name]) / took_s for name in after}
    for failure in sorted(set(failures))[:5]:
        print(failure, file=sys.stderr)
    return LiveRun(
        figures=_figures(replies, len(arrivals), rules.slo, Counter(one.pool for one in records)),
        failed=len(failures),
        misshapen=_misshapen(replies, arrivals),
        hedged=sum(one.is_hedged for one in records),
        late_p99_ms=1000 * _quantile([one.late_s for one in replies], 0.99),
        gateway_cores=cores.pop(GATEWAY),
        emulator_cores=cores,
        client_cores=own_s / took_s,
        idle_cores=None if idle_s is None or idle_before_s is None else (idle_s - idle_before_s) / took_s,
        behind=behind,
    )


def _figures(replies: Sequence[Reply], came: int, slo: Slo, pools: Counter[str]) -> Figures:
    within = sum(one.ttft_s <= slo.ttft_s and one.itl_s <= slo.itl_s for one in replies)
    waits_s, gaps_s = [one.ttft_s for one in replies], [one.itl_s for one in replies]
    return Figures(
        attainment=within / came,
        ttft_p50_s=_quantile(waits_s, 0.5),
        ttft_p99_s=_quantile(waits_s, 0.99),
        itl_p50_s=_quantile(gaps_s, 0.5),
        itl_p99_s=_quantile(gaps_s, 0.99),
        pools=dict(pools),
    )


def _misshapen(replies: Sequence[Reply], arrivals: Sequence[SimulatedRequest]) -> int:
    """Whole answers that have no counterpart in the trace: lengths as pairs, since answers come in any order."""
    said = Counter((one.prompt_tokens, one.output_tokens) for one in replies)
    return (said - Counter((one.prompt_tokens, one.output_tokens) for one in arrivals)).total()


def _quantile(values: Sequence[float], share: float) -> float:
    """As the simulator's report has it."""
    if not values:
        return float("inf")
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the folder with traces/")
    parser.add_argument("--policy", action="append", help="again for more; slo and cost unless said")
    parser.add_argument("--load", type=float, default=0.7, help="share of what the fleet sustains")
    parser.add_argument("--seconds", type=float, default=120.0, help="of arrivals, in each run")
    parser.add_argument("--runs", type=int, default=3, help="of each policy")
    parser.add_argument("--slo-ttft-ms", type=float, default=300.0)
    parser.add_argument("--slo-itl-ms", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0, help="where in the trace to begin")
    parser.add_argument("--defaults", action="store_true", help="a gateway with its defaults: it hedges and limits")
    parser.add_argument("--no-page", action="store_true", help="write nothing")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
