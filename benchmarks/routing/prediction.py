"""How right the router's forecasts are on a mixed fleet under load, and how soon they are right again after a change.

Every pool is slower or faster than the prior says. The first requests of each pool are for learning and do not count.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import median

from msgspec import Struct, structs

from benchmarks.routing.bakeoff import traffic_of
from benchmarks.routing.fleets import FLEETS, Kind, fleet, laid_out
from benchmarks.routing.processes import in_parallel
from benchmarks.traces.traces import AZURE, Trace
from heterodyne.simulator.fleet import LaidOutPool
from heterodyne.simulator.run import run
from heterodyne.simulator.tally import ForecastRecord, SimulationTally
from heterodyne.simulator.trial import SpeedChange, Trial
from heterodyne.simulator.workload import Workload

LEARNED_AFTER = 500  # requests of a pool
TOKENS_MIN = 4  # of an answer, for the time between its tokens to say anything
LOADS = (0.5, 0.8)
RECOVERY_LOAD = 0.5
SLOWER = 2.0
WINDOW = 50  # requests that the running median is of
RECOVERED = 1.5  # times the error before the change
BEFORE = 300  # requests before the change that its error is of


class TimedPrediction(Struct, frozen=True, gc=False):
    """One time that was foretold, and came."""

    expected_s: float
    low_s: float
    high_s: float
    actual_s: float

    @property
    def error(self) -> float:
        """Relative."""
        return abs(self.expected_s / self.actual_s - 1)

    @property
    def is_covered(self) -> bool:
        """Whether it came within the bounds."""
        return self.low_s <= self.actual_s <= self.high_s


class Accuracy(Struct, frozen=True, kw_only=True):
    """Of forecasts for one pool, or for all of them."""

    load: float
    pool: str
    requests: int
    ttft_error: float  # median
    ttft_covered: float
    itl_error: float
    itl_covered: float


class Recovery(Struct, frozen=True, kw_only=True):
    """After one pool became slower."""

    pool: str
    seed: int
    seen: int  # requests of the pool after the change
    # Until the error was back to nearly what it was before; None: not before the trace ended.
    ttft_before: int | None
    itl_before: int | None
    # The same, to what it is where the pool has been as slow from the beginning.
    ttft_settled: int | None
    itl_settled: int | None


class Request(Struct, frozen=True, kw_only=True, gc=False):
    """One that was answered, with both of its times."""

    at_s: float
    pool: str
    ttft: TimedPrediction
    itl: TimedPrediction | None  # None: too short an answer


def accuracies(traces: Mapping[str, Trace], seeds: int, requests: int, processes: int) -> list[Accuracy]:
    """Per load: all pools, then each."""
    work = [(load, seed) for load in LOADS for seed in range(seeds)]
    driven = in_parallel(partial(_learned, traces[AZURE], requests), work, processes=processes, word="forecasts")
    found = []
    for load in LOADS:
        kept: dict[str, list[Request]] = {}
        for (at_load, _), pools in zip(work, driven, strict=True):
            if at_load == load:
                for pool, those in pools.items():
                    kept.setdefault(pool, []).extend(those)
        found.append(_accuracy(load, "all", [one for those in kept.values() for one in those]))
        found += [_accuracy(load, pool, those) for pool, those in kept.items() if those]
    return found


def recoveries(traces: Mapping[str, Trace], seeds: int, requests: int, processes: int) -> list[Recovery]:
    """Each pool in turn becomes slower half-way."""
    work = [(seed, pool) for seed in range(seeds) for pool in fleet(_fleet()).pools]
    return in_parallel(partial(_recovery, traces[AZURE], requests), work, processes=processes, word="recoveries")


def _learned(trace: Trace, requests: int, work: tuple[float, int]) -> dict[str, list[Request]]:
    load, seed = work
    traffic = traffic_of(_fleet(), trace, load, seed, requests)
    pools = _drive(trace, laid_out(_fleet(), seed), traffic, seed)
    return {pool: those[LEARNED_AFTER:] for pool, those in pools.items()}


def _fleet() -> str:
    return next(one.name for one in FLEETS if one.kind is Kind.MIXED)


def _drive(
    trace: Trace, pools: Sequence[LaidOutPool], traffic: Workload, seed: int, changes: tuple[SpeedChange, ...] = ()
) -> dict[str, list[Request]]:
    """By pool, in the order they came."""
    trial = Trial(policy="slo", seed=seed, slo=trace.slo, keeps_forecasts=True, speed_changes=changes)
    return _by_pool(_requests(run(pools, traffic, trial)))


def _requests(tally: SimulationTally) -> list[Request]:
    answered = zip(tally.predicted, tally.ttft_s, tally.itl_s, tally.output_tokens, strict=True)
    return sorted((_request(*one) for one in answered), key=lambda one: one.at_s)


def _request(predicted: ForecastRecord, ttft_s: float, itl_s: float, output_tokens: int) -> Request:
    itl = TimedPrediction(predicted.itl_s, predicted.itl_low_s, predicted.itl_high_s, itl_s)
    return Request(
        at_s=predicted.at_s,
        pool=predicted.pool,
        ttft=TimedPrediction(predicted.ttft_s, predicted.ttft_low_s, predicted.ttft_high_s, ttft_s),
        itl=itl if output_tokens >= TOKENS_MIN else None,
    )


def _by_pool(requests: Sequence[Request]) -> dict[str, list[Request]]:
    pools: dict[str, list[Request]] = {}
    for one in requests:
        pools.setdefault(one.pool, []).append(one)
    return pools


def _accuracy(load: float, pool: str, requests: Sequence[Request]) -> Accuracy:
    ttft, itl = _ttft(requests), _itl(requests)
    return Accuracy(
        load=load,
        pool=pool,
        requests=len(requests),
        ttft_error=median(one.error for one in ttft),
        ttft_covered=sum(one.is_covered for one in ttft) / len(ttft),
        itl_error=median(one.error for one in itl),
        itl_covered=sum(one.is_covered for one in itl) / len(itl),
    )


def _recovery(trace: Trace, requests: int, work: tuple[int, str]) -> Recovery:
    seed, name = work
    pools = laid_out(_fleet(), seed)
    slower = {pool.name: SLOWER * pool.slowdown for pool in pools if pool.name == name}
    traffic = traffic_of(_fleet(), trace, RECOVERY_LOAD, seed, requests)
    half_s = traffic.arrivals[min(requests // 2, len(traffic.arrivals) - 1)].at_s
    change = SpeedChange(at_s=half_s, pool=name, slowdown=slower[name])
    those = _drive(trace, pools, traffic, seed, (change,)).get(name, [])
    before = [one for one in those if one.at_s < half_s][-BEFORE:]
    after = [one for one in those if one.at_s >= half_s]
    always = [structs.replace(pool, slowdown=slower.get(pool.name, pool.slowdown)) for pool in pools]
    settled = [one for one in _drive(trace, always, traffic, seed).get(name, []) if one.at_s >= half_s]
    return Recovery(
        pool=name,
        seed=seed,
        seen=len(after),
        ttft_before=_back(_ttft(before), _ttft(after)),
        itl_before=_back(_itl(before), _itl(after)),
        ttft_settled=_back(_ttft(settled), _ttft(after)),
        itl_settled=_back(_itl(settled), _itl(after)),
    )


def _ttft(requests: Sequence[Request]) -> list[TimedPrediction]:
    return [one.ttft for one in requests]


def _itl(requests: Sequence[Request]) -> list[TimedPrediction]:
    return [one.itl for one in requests if one.itl is not None]


def _back(usual: Sequence[TimedPrediction], after: Sequence[TimedPrediction]) -> int | None:
    """Requests until the running median is no worse than usual, nearly; the window lies after the change."""
    if not usual:
        return None
    limit = RECOVERED * median(one.error for one in usual)
    errors = [one.error for one in after]
    ends = range(WINDOW, len(errors) + 1)
    return next((end for end in ends if median(errors[end - WINDOW : end]) <= limit), None)
