"""Reads what alerts want of the books' history: short windows each time, longer ones now and then, hours once."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from heterodyne.alerts.signals import AlertWindow, ModelSignals, PredictionSignals, TtftPercentile, WindowCounts
from heterodyne.domain.history import Distribution, History, HistoryGroup, HistoryQuery, Sums
from heterodyne.domain.minutes import merged_sums
from heterodyne.domain.spread import count_of, percentile_ms

FRESH_S = {  # how long what was read of a window holds; the longer it is, the less it moves
    AlertWindow.M5: 0.0,
    AlertWindow.M30: 30.0,
    AlertWindow.H1: 60.0,
    AlertWindow.H6: 120.0,
}
PREDICTION_S = 900
PREDICTION_FRESH_S = 60.0
HOUR_S = 3600
HOUR_FRESH_S = 60.0  # of the hour that runs
HOURS_AT_ONCE = 4  # read in one look: the days before a start take some minutes to be known

Read = tuple[tuple[ModelSignals, ...], tuple[PredictionSignals, ...]]
SumsByName = Mapping[str, Sums]
Tallies = Mapping[str, WindowCounts]


class HistorySource(Protocol):
    """The part of the books that alerts read."""

    async def history(self, query: HistoryQuery) -> History: ...


class AlertHistory:
    """Belongs to one event loop."""

    def __init__(self, source: HistorySource) -> None:
        self._source = source
        self._known: dict[tuple[HistoryGroup, int], tuple[float, SumsByName]] = {}
        self._running: tuple[float, SumsByName] = 0.0, {}
        self._hours: dict[int, Tallies] = {}  # that are over, by their beginning; within the longest window

    async def read(self, now: float) -> Read:
        """What models and predictions did; raises StoreUnavailable."""
        windows = {
            window: await self._window(HistoryGroup.MODEL, window.seconds, now, fresh_s)
            for window, fresh_s in FRESH_S.items()
        }
        pools = await self._window(HistoryGroup.POOL, PREDICTION_S, now, PREDICTION_FRESH_S)
        return models_of(windows, await self._days(now)), predictions_of(pools)

    async def _window(self, group: HistoryGroup, seconds: int, now: float, fresh_s: float) -> SumsByName:
        known = self._known.get((group, seconds))
        if known is not None and 0 <= now - known[0] < fresh_s:
            return known[1]
        sums = await self._sums(group, now - seconds, now)
        self._known[group, seconds] = now, sums
        return sums

    async def _days(self, now: float) -> Tallies:
        """The longest window, hour by hour: all of its minutes at once would be too many to read."""
        this_hour = int(now // HOUR_S) * HOUR_S
        hours = range(this_hour - HOUR_S, this_hour - AlertWindow.D3.seconds - HOUR_S, -HOUR_S)
        self._hours = {hour: tallies for hour, tallies in self._hours.items() if hour in hours}
        missing = (hour for hour in hours if hour not in self._hours)
        for hour, _ in zip(missing, range(HOURS_AT_ONCE), strict=False):
            self._hours[hour] = _tallies(await self._sums(HistoryGroup.MODEL, hour, hour + HOUR_S))
        return _added((*self._hours.values(), _tallies(await self._so_far(this_hour, now))))

    async def _so_far(self, this_hour: int, now: float) -> SumsByName:
        """The hour that runs."""
        if now == this_hour:
            return {}
        read_at, sums = self._running
        if not (this_hour < read_at <= now < read_at + HOUR_FRESH_S):
            sums = await self._sums(HistoryGroup.MODEL, this_hour, now)
            self._running = now, sums
        return sums

    async def _sums(self, group: HistoryGroup, since_at: float, until_at: float) -> SumsByName:
        """The whole span of each model or pool."""
        # Steps no shorter than the span make two points of a series at most, however many series there are.
        step_s = -int(-(until_at - since_at) // 60) * 60
        found = await self._source.history(
            HistoryQuery(since_at=since_at, until_at=until_at, step_s=step_s, by=(group,))
        )
        return {one.group[group]: merged_sums(step.sums for step in one.steps) for one in found.series}


def models_of(windows: Mapping[AlertWindow, SumsByName], days: Tallies) -> tuple[ModelSignals, ...]:
    """Every model that was asked within the longest window, and what was turned away before it had one."""
    names = dict.fromkeys((*(name for sums in windows.values() for name in sums), *days))
    return tuple(_model(name, windows, days) for name in names)


def predictions_of(pools: SumsByName) -> tuple[PredictionSignals, ...]:
    """Pools for which anything was predicted; errors are kept in thousandths."""
    tails = {pool: _tail(sums.ttft_error, 0.5) for pool, sums in pools.items() if pool}
    return tuple(
        PredictionSignals(pool=pool, count=tail.count, median=tail.ms / 1000)
        for pool, tail in tails.items()
        if tail is not None
    )


def _model(name: str, windows: Mapping[AlertWindow, SumsByName], days: Tallies) -> ModelSignals:
    sums = {window: by_name.get(name, Sums()) for window, by_name in windows.items()}
    return ModelSignals(
        model=name,
        tallies={
            **{window: _tally(one) for window, one in sums.items()},
            AlertWindow.D3: days.get(name, WindowCounts()),
        },
        ttft_p99=_tail(sums[AlertWindow.M5].ttft, 0.99),
        ttft_p999=_tail(sums[AlertWindow.M30].ttft, 0.999),
    )


def _tallies(sums: SumsByName) -> Tallies:
    return {name: _tally(one) for name, one in sums.items()}


def _tally(sums: Sums) -> WindowCounts:
    return WindowCounts(
        requests=sums.requests, faults=sums.faults, promised=sums.promised, broken=sums.promised - sums.kept
    )


def _added(many: Iterable[Tallies]) -> Tallies:
    whole: dict[str, WindowCounts] = {}
    for tallies in many:
        for name, one in tallies.items():
            before = whole.get(name, WindowCounts())
            whole[name] = WindowCounts(
                requests=before.requests + one.requests,
                faults=before.faults + one.faults,
                promised=before.promised + one.promised,
                broken=before.broken + one.broken,
            )
    return whole


def _tail(distribution: Distribution, share: float) -> TtftPercentile | None:
    ms = percentile_ms(distribution, share)
    return None if ms is None else TtftPercentile(count=count_of(distribution), ms=ms)
