"""A batch beside interactive traffic in virtual time: what the live benchmark measures in minutes, in seconds."""

import sys
import time

from msgspec import structs

from benchmarks.batches.traffic import IN_FLIGHT_MAX, WARM_S, interactive, read_options, slo_of
from benchmarks.routing_live.fleet import laid_out
from heterodyne.admission.settings import AdmissionSettings
from heterodyne.physics.serving import Slo
from heterodyne.simulator.batch import SimulatedBatch
from heterodyne.simulator.run import run
from heterodyne.simulator.tally import SimulationTally
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import Workload, workload

FEW = 1.0  # interactive requests a second, of a batch that is as good as alone


def main() -> int:
    """Print what was found."""
    options = read_options(__doc__, seconds=90.0)
    slo = slo_of(options)
    pools, asked = laid_out(), interactive(options, slo)
    rate, end_s = asked.rate, options.warm_s + options.seconds
    traffic = workload(asked.log[: int(rate * end_s)], rate=rate)
    few = workload(asked.log[: max(1, int(FEW * end_s))], rate=FEW)
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
    beside_it = sum(one.at_s >= options.warm_s for one in traffic.arrivals)
    before, after = _attainment(alone, slo, beside_it), _attainment(both, slo, beside_it)
    pace, beside = (one.lines_per_s(from_s, end_s) for one in (lines, both.batch))
    left = (1 - options.load) * pace
    print(
        f"interactive {rate:.1f}/s: {100 * before:.2f} % -> {100 * after:.2f} %: {100 * (after - before):+.2f} points"
    )
    print(f"batch alone {pace:.1f} lines/s {dict(lines.pools)}")
    print(f"beside {beside:.1f} lines/s {dict(both.batch.pools)}: {beside / left:.2f} of the {left:.1f} left over")
    return 0


def _attainment(tally: SimulationTally, slo: Slo, came: int) -> float:
    """Of those that come beside the batch; what others miss, or are refused, counts as if it were theirs."""
    missed = sum(
        ttft_s > slo.ttft_s or itl_s > slo.itl_s for ttft_s, itl_s in zip(tally.ttft_s, tally.itl_s, strict=True)
    )
    return 1.0 - (missed + sum(tally.refusals.values()) + tally.refused) / came


if __name__ == "__main__":
    raise SystemExit(main())
