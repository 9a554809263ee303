"""One load under one scaler, in virtual time."""

from time import process_time

from msgspec import Struct

from benchmarks.scaling.fleet import COLD_START_S, MAXIMUM, POOL, SHARE, SLO, TRIAL, curve, pool
from benchmarks.scaling.loads import Load
from benchmarks.scaling.scalers import (
    CLAIRVOYANT,
    HEADROOMS,
    HINDSIGHT,
    OURS,
    REACTIVE,
    RESERVE,
    TOLD_BEST,
    ours,
    peers,
    schedule,
)
from heterodyne.domain.fleet import PoolName
from heterodyne.domain.replica_stage import COMING
from heterodyne.domain.start_time import StartTime
from heterodyne.planning.scaling.observation import Observation
from heterodyne.planning.scaling.peers.resize import PeerBounds
from heterodyne.planning.scaling.peers.schedule import Schedule
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.simulator.growing_fleet import GrowingFleet, GrowingPool, Scaler, Tells
from heterodyne.simulator.growth_tally import GrowthReport, GrowthTally
from heterodyne.simulator.run import run
from heterodyne.simulator.workload import workload

COLD_START_SPREAD = 0.1
FACTORS = (0.8, 1.1)  # of demand, between which the cheapest schedule that keeps the promise is looked for
FACTOR_MAX, WIDER = 3.0, 1.3  # and beyond, where lengths are unlike those that the capacity was found with
HALVINGS = 3
FIRST_S = 300.0


class Cell(Struct, frozen=True, kw_only=True):
    """A line of the table."""

    load: str
    scaler: str
    report: GrowthReport
    reasons: dict[str, int] = {}  # of its steps
    factor: float | None = None  # of a schedule
    rates: tuple[float, ...] = ()  # requests a second by five minutes, for the picture
    replicas: tuple[float, ...] = ()  # ready, by five minutes
    cpu_s: float = 0.0


def measure(load: Load, name: str) -> Cell:
    """By name."""
    began_s = process_time()
    log = load.requests()
    if name in {CLAIRVOYANT, RESERVE}:
        factor, tally = _cheapest(load, log, has_foresight=name == CLAIRVOYANT)
        return _cell(load, name, tally, log, began_s, factor=factor)
    bounds = PeerBounds(pool=PoolName(POOL), minimum=load.minimum, maximum=MAXIMUM)
    if name == HINDSIGHT:
        tally = _simulated(load, log, Schedule(bounds, schedule(load, log, 1.0, has_foresight=False)))
        return _cell(load, name, tally, log, began_s)
    reasons: dict[str, int] = {}
    if name in {OURS, REACTIVE, TOLD_BEST, *HEADROOMS}:
        scaler = ours(load, forecasts=name != REACTIVE, headroom=HEADROOMS.get(name, 0.0))
        tells = _told_best if name == TOLD_BEST else scaler.told_wait_s
        tally = _simulated(load, log, scaler, tells=tells)
        for step in scaler.steps:
            for action in step.actions:
                word = f"{action.kind} {action.reason}"
                reasons[word] = reasons.get(word, 0) + 1
    else:
        tally = _simulated(load, log, peers(load)[name]())
    return _cell(load, name, tally, log, began_s, reasons=reasons)


def _simulated(load: Load, log: list[TraceRequest], scaler: Scaler, tells: Tells | None = None) -> GrowthTally:
    template = pool(MAXIMUM)
    growing = GrowingFleet(
        [
            GrowingPool(
                pool=template, first=_first(load, log), cold_start_s=COLD_START_S, cold_start_spread=COLD_START_SPREAD
            )
        ],
        scaler,
        SLO,
        seed=3,
        look_s=getattr(scaler, "look_s", 10.0),
        tells=tells,
    )
    traffic = workload(log)
    run((template,), traffic, TRIAL, growing=growing)
    return growing.close(max(one.at_s for one in traffic.arrivals))


def _told_best(seen: Observation) -> float:
    """The best that can be told by who knows how long cold starts take and how they are spread, but not the draw."""
    asked = [one.asked_at_s for one in seen.pool(PoolName(POOL)).replicas if one.stage in COMING]
    start = StartTime(usual_s=COLD_START_S, spread=COLD_START_SPREAD)
    return start.left_s(seen.at_s - min(asked, default=seen.at_s))


def _first(load: Load, log: list[TraceRequest]) -> int:
    """Replicas that are ready when it begins: those that its first minutes need."""
    if not load.minimum:
        return 0
    known = curve()
    work = sum(
        one.prompt_tokens * known.prompt_token + one.output_tokens * known.output_token
        for one in log
        if one.at_s < FIRST_S
    )
    return known.replicas_for(work / FIRST_S) + 1


def _cheapest(load: Load, log: list[TraceRequest], *, has_foresight: bool) -> tuple[float, GrowthTally]:
    """The schedule that keeps the promise with the least, by halving."""
    bounds = PeerBounds(pool=PoolName(POOL), minimum=load.minimum, maximum=MAXIMUM)

    def simulated(factor: float) -> GrowthTally:
        return _simulated(load, log, Schedule(bounds, schedule(load, log, factor, has_foresight=has_foresight)))

    low, high = FACTORS
    best = simulated(high)
    while best.report(load.warm_up_s).attainment < SHARE and high < FACTOR_MAX:
        low, high = high, high * WIDER
        best = simulated(high)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        tally = simulated(middle)
        if tally.report(load.warm_up_s).attainment >= SHARE:
            high, best = middle, tally
        else:
            low = middle
    return high, best


def _cell(
    load: Load,
    name: str,
    tally: GrowthTally,
    log: list[TraceRequest],
    began_s: float,
    *,
    reasons: dict[str, int] | None = None,
    factor: float | None = None,
) -> Cell:
    span_s = log[-1].at_s
    bins = min(288, max(24, int(span_s // 300)))
    width_s = span_s / bins
    rates = [0.0] * bins
    for one in log:
        rates[min(bins - 1, int(one.at_s / width_s))] += 1 / width_s
    return Cell(
        load=load.name,
        scaler=name,
        report=tally.report(load.warm_up_s),
        reasons=reasons or {},
        factor=factor,
        rates=tuple(round(one, 3) for one in rates),
        replicas=tuple(_count_at(tally, (place + 0.5) * width_s) for place in range(bins)),
        cpu_s=process_time() - began_s,
    )


def _count_at(tally: GrowthTally, at_s: float) -> float:
    count = 0
    for since_s, _, ready, _ in tally.counts:
        if since_s > at_s:
            break
        count = ready
    return float(count)
