"""One part of a trace beside one batch, in virtual time: what each does alone, and what both do together."""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from benchmarks.batches.traffic import IN_FLIGHT_MAX, WARM_S, interactive, slo_of
from benchmarks.mean_capacity import mean_capacity_rps
from benchmarks.routing_live.fleet import laid_out
from heterodyne.admission.settings import AdmissionSettings
from heterodyne.physics.serving import Slo
from heterodyne.routing.spare import ITL_SHARE
from heterodyne.simulator.batch import BatchTally, SimulatedBatch
from heterodyne.simulator.fleet import LaidOutPool
from heterodyne.simulator.run import run
from heterodyne.simulator.tally import SimulationTally
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import Workload, workload

RESULTS = Path(__file__).with_name("beside.json")
ALONE_S = 60.0  # of the batch alone: its pace is steady
FEW_RPS = 1.0  # interactive requests, of a batch that is as good as alone
PERCENT = 100.0


class Kept(Struct, frozen=True, kw_only=True):
    """Interactive requests that came while the batch was there, or would have been."""

    came: int
    late: int  # their first token
    slow: int  # the mean time between their tokens
    refused: int
    missed: int  # any of these; what those before them missed counts as if it were theirs

    @property
    def percent(self) -> float:
        """Those whose promise was kept."""
        return PERCENT * (1.0 - self.missed / self.came)


class Beside(Struct, frozen=True, kw_only=True):
    """What was found."""

    trace: str
    part: int
    load: float
    load_at_steps: float  # the same of what the fleet holds at the steps that lines are held to
    seconds: float
    interactive_rps: float
    alone: Kept
    beside: Kept
    lines_alone_per_s: float
    lines_per_s: float
    lines: int  # answered
    cached_share: float  # of prompt tokens that lines could share

    @property
    def points(self) -> float:
        """By how many more promises are kept with the batch; negative: fewer."""
        return self.beside.percent - self.alone.percent

    @property
    def left_per_s(self) -> float:
        """Lines that the capacity which interactive work leaves could answer."""
        return (1.0 - self.load) * self.lines_alone_per_s

    @property
    def of_left(self) -> float:
        """The share of them that is."""
        return self.lines_per_s / self.left_per_s

    @property
    def of_left_at_steps(self) -> float:
        """The same where interactive work is measured by the steps that lines are held to, as lines alone are."""
        return self.lines_per_s / ((1.0 - self.load_at_steps) * self.lines_alone_per_s)


def read_kept() -> dict[str, Beside]:
    """What `page.py` has measured, by case."""
    return msgspec.json.decode(RESULTS.read_bytes(), type=dict[str, Beside])


def measure(options: argparse.Namespace, known: Beside | None = None) -> Beside:
    """Three runs, or one where it is known what each does alone."""
    slo, pools = slo_of(options), laid_out()
    asked, end_s = interactive(options, slo, pools), options.warm_s + options.seconds
    traffic = workload(asked.log[: int(asked.rate * end_s)], rate=asked.rate)
    batch = SimulatedBatch(
        lines=options.lines,
        groups=options.groups,
        shared_tokens=options.shared_tokens,
        own_tokens=options.own_tokens,
        output_tokens=options.output_tokens,
        at_s=options.warm_s,
        until_s=end_s,
    )
    admission = AdmissionSettings(in_flight_max=IN_FLIGHT_MAX)
    trial = Trial(policy=options.policy, seed=options.seed, slo=slo, admission=admission)
    with_batch = structs.replace(trial, batch=batch)

    def tried(traffic: Workload, trial: Trial, name: str) -> SimulationTally:
        began_s = time.perf_counter()
        tally = run(pools, traffic, trial)
        print(f"{name}: {time.perf_counter() - began_s:.1f} s", file=sys.stderr)
        return tally

    came = sum(one.at_s >= options.warm_s for one in traffic.arrivals)
    if known is None:
        alone = _kept(tried(traffic, trial, "interactive alone"), slo, came)
        alone_end_s = min(end_s, options.warm_s + ALONE_S)
        few = workload(asked.log[: max(1, int(FEW_RPS * alone_end_s))], rate=FEW_RPS)
        many = structs.replace(batch, lines=2 * batch.lines, groups=2 * batch.groups, until_s=alone_end_s)
        lines_alone_per_s = _lines_per_s(tried(few, structs.replace(trial, batch=many), "batch alone"), many)
    else:
        alone, lines_alone_per_s = known.alone, known.lines_alone_per_s
    both = tried(traffic, with_batch, "both")
    assert both.batch is not None
    return Beside(
        trace=options.trace,
        part=options.seed,
        load=options.load,
        load_at_steps=came / options.seconds / _rps_at_steps(traffic, slo, pools, options.warm_s),
        seconds=options.seconds,
        interactive_rps=asked.rate,
        alone=alone,
        beside=_kept(both, slo, came),
        lines_alone_per_s=lines_alone_per_s,
        lines_per_s=_lines_per_s(both, batch),
        lines=len(both.batch.ended_at_s),
        cached_share=_cached_share(both.batch, batch),
    )


def _rps_at_steps(traffic: Workload, slo: Slo, pools: Sequence[LaidOutPool], warm_s: float) -> float:
    """Of such requests as come beside the batch, how many the fleet holds at the steps that lines are held to."""
    beside = structs.replace(traffic, arrivals=tuple(one for one in traffic.arrivals if one.at_s >= warm_s))
    return mean_capacity_rps(pools, beside, Slo(ttft_s=slo.ttft_s, itl_s=ITL_SHARE * slo.itl_s))


def _lines_per_s(tally: SimulationTally, batch: SimulatedBatch) -> float:
    """From when it is warm until the last line is answered, or the time is over."""
    lines = tally.batch
    assert lines is not None
    end_s = min(batch.until_s, max(lines.ended_at_s, default=batch.until_s))
    return lines.lines_per_s(batch.at_s + WARM_S, end_s)


def _cached_share(lines: BatchTally, batch: SimulatedBatch) -> float:
    answered = len(lines.ended_at_s)
    groups = -(-answered * batch.groups // batch.lines)  # that were begun: lines are asked group by group
    return lines.cached_tokens / max(1, (answered - groups) * batch.shared_tokens)


def _kept(tally: SimulationTally, slo: Slo, came: int) -> Kept:
    late = [ttft_s > slo.ttft_s for ttft_s in tally.ttft_s]
    slow = [itl_s > slo.itl_s for itl_s in tally.itl_s]
    refused = sum(tally.refusals.values()) + tally.refused
    missed = sum(map(max, late, slow)) + refused
    return Kept(came=came, late=sum(late), slow=sum(slow), refused=refused, missed=missed)
