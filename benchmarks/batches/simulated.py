"""A batch beside interactive traffic in virtual time: what the live benchmark measures in minutes, in seconds."""

import argparse
import sys
import time
from pathlib import Path

from msgspec import structs

from benchmarks.routing_live.client import OUTPUT_TOKENS_MAX
from benchmarks.routing_live.fleet import CONTEXT_TOKENS, laid_out
from benchmarks.traces.traces import AZURE, read_traces
from heterodyne.admission.settings import AdmissionSettings
from heterodyne.physics.serving import Slo
from heterodyne.simulator.batch import SimulatedBatch
from heterodyne.simulator.capacity import capacity_rps
from heterodyne.simulator.run import run
from heterodyne.simulator.tally import SimulationTally
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import Workload, workload

WARM_S = 10.0  # of a batch, that its pace is not measured in
FEW = 1.0  # interactive requests a second, of a batch that is as good as alone
IN_FLIGHT_MAX = 4096  # of the worker: more than the fleet can hold, so that its replicas are what is filled


def main() -> int:
    """Print what was found."""
    options = _options()
    slo = Slo(ttft_s=options.slo_ttft_ms / 1000, itl_s=options.slo_itl_ms / 1000)
    trace = read_traces(options.data)[AZURE]
    pools = laid_out()
    rate = options.load * capacity_rps(pools, workload(trace.part(options.seed, 20_000)), slo)
    end_s = options.warm_s + options.seconds
    fitting = [
        one
        for one in trace.part(options.seed, 2 * int(rate * end_s))
        if one.prompt_tokens + OUTPUT_TOKENS_MAX <= CONTEXT_TOKENS and one.output_tokens <= OUTPUT_TOKENS_MAX
    ]
    traffic = workload(fitting[: int(rate * end_s)], rate=rate)
    few = workload(fitting[: max(1, int(FEW * end_s))], rate=FEW)
    batch = SimulatedBatch(
        lines=options.lines,
        groups=options.groups,
        shared_tokens=options.shared_tokens,
        own_tokens=options.own_tokens,
        output_tokens=options.output_tokens,
        at_s=options.warm_s,
        until_s=end_s,
    )
    trial = Trial(
        policy=options.policy, seed=options.seed, slo=slo, admission=AdmissionSettings(in_flight_max=IN_FLIGHT_MAX)
    )
    from_s = options.warm_s + WARM_S

    def tried(traffic: Workload, trial: Trial, name: str) -> SimulationTally:
        began_s = time.perf_counter()
        tally = run(pools, traffic, trial)
        print(f"{name}: {time.perf_counter() - began_s:.1f} s", file=sys.stderr)
        return tally

    alone = tried(traffic, trial, "interactive alone")
    lines = tried(few, structs.replace(trial, batch=batch), "batch alone").batch
    both = tried(traffic, structs.replace(trial, batch=batch), "both")
    assert lines is not None
    assert both.batch is not None
    before, after = _attainment(alone, traffic, slo), _attainment(both, traffic, slo)
    pace, beside = (one.lines_per_s(from_s, end_s) for one in (lines, both.batch))
    left = (1 - options.load) * pace
    print(
        f"interactive {rate:.1f}/s: {100 * before:.2f} % -> {100 * after:.2f} %: {100 * (after - before):+.2f} points"
    )
    print(f"batch alone {pace:.1f} lines/s {dict(lines.pools)}")
    print(f"beside {beside:.1f} lines/s {dict(both.batch.pools)}: {beside / left:.2f} of the {left:.1f} left over")
    return 0


def _attainment(tally: SimulationTally, traffic: Workload, slo: Slo) -> float:
    kept = sum(
        ttft_s <= slo.ttft_s and itl_s <= slo.itl_s for ttft_s, itl_s in zip(tally.ttft_s, tally.itl_s, strict=True)
    )
    return kept / traffic.requests


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the traces")
    parser.add_argument("--lines", type=int, default=50_000)
    parser.add_argument("--groups", type=int, default=100)
    parser.add_argument("--shared-tokens", type=int, default=512)
    parser.add_argument("--own-tokens", type=int, default=64)
    parser.add_argument("--output-tokens", type=int, default=64)
    parser.add_argument("--load", type=float, default=0.6, help="of the rate at which the fleet keeps its promise")
    parser.add_argument("--seconds", type=float, default=90.0, help="of interactive traffic beside it")
    parser.add_argument("--warm-s", type=float, default=60.0, help="of traffic before the batch comes")
    parser.add_argument("--policy", default="slo")
    parser.add_argument("--slo-ttft-ms", type=float, default=1000.0)
    parser.add_argument("--slo-itl-ms", type=float, default=50.0)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
