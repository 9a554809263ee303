"""Demand by model over the last days, kept in memory so that each look at it reads only the newest minutes.

Demand is every request for a model, those that were refused included: they would have used the room that was missing.
"""

from collections.abc import Collection
from math import floor

from msgspec import Struct

from heterodyne.domain.history import HistoryGroup, HistoryQuery, Sums
from heterodyne.planning.traffic.demand_forecast import DAYS_MAX
from heterodyne.planning.traffic.demand_rules import DAY_STEPS, STEP_S
from heterodyne.planning.traffic.request_shape import RequestShape
from heterodyne.ports.books import BookStore

DAY_S = DAY_STEPS * STEP_S
LATE_STEPS = 2  # steps read again: a request is counted when it ends, in the minute when it came
SHAPE_REQUESTS = 200  # the latest, at least, that say how long requests are now


class _Step(Struct, frozen=True, gc=False):
    """What ten minutes of one model add up to."""

    requests: int
    answered: int
    prompt_tokens: int
    completion_tokens: int


class DemandLog:
    """Belongs to one event loop; holds a fortnight of each model it is asked to."""

    def __init__(self, books: BookStore) -> None:
        self._books = books
        self._read_until = 0  # a step's beginning
        self._steps: dict[str, dict[int, _Step]] = {}

    async def refresh(self, models: Collection[str], now: float) -> None:
        """Read what is new, a day at a time; of models that are no longer wanted nothing is kept."""
        if not set(models) <= set(self._steps):
            self._read_until = 0
        present = floor(now / STEP_S) * STEP_S
        first = present - DAYS_MAX * DAY_S
        since = max(first, self._read_until - LATE_STEPS * STEP_S)
        steps = {model: {at: one for at, one in self._steps.get(model, {}).items() if at >= first} for model in models}
        while since <= present:
            until = min(since + DAY_S, present + STEP_S)
            history = await self._books.history(
                HistoryQuery(since_at=since, until_at=until, step_s=STEP_S, by=(HistoryGroup.MODEL,))
            )
            for series in history.series:
                known = steps.get(series.group[HistoryGroup.MODEL])
                if known is not None:
                    known.update({one.at: _step(one.sums) for one in series.steps})
            since = until
        self._steps, self._read_until = steps, present

    @property
    def ended_at(self) -> int:
        """When the last whole step ended."""
        return self._read_until

    def rates(self, model: str) -> list[float]:
        """Requests per second by whole step, from the first request on; nothing is missing."""
        steps = self._steps.get(model, {})
        if not steps:
            return []
        times = range(min(steps), self._read_until, STEP_S)
        return [steps[at].requests / STEP_S if at in steps else 0.0 for at in times]

    def shape(self, model: str) -> RequestShape | None:
        """The mean of the latest answered requests; None: none was answered."""
        answered = prompt_tokens = completion_tokens = 0
        for _, one in sorted(self._steps.get(model, {}).items(), reverse=True):
            answered += one.answered
            prompt_tokens += one.prompt_tokens
            completion_tokens += one.completion_tokens
            if answered >= SHAPE_REQUESTS:
                break
        if not answered or not prompt_tokens:
            return None
        return RequestShape(prompt_tokens=prompt_tokens / answered, output_tokens=completion_tokens / answered)


def _step(sums: Sums) -> _Step:
    return _Step(sums.requests, sums.requests - sums.refused, sums.prompt_tokens, sums.completion_tokens)
