"""What this worker has seen of the demand for each model, as sums that the supervisor's autoscaler takes apart."""

from typing import Final

from msgspec import Struct

from heterodyne.domain.ended_request import EndedRequest
from heterodyne.domain.record import RequestRecord
from heterodyne.gateway.finished import Finished
from heterodyne.routing.forecast import own_risk

MODELS_MAX: Final = 512
PROMISE_BROKEN: Final = "broken"
# Refusals of requests that more replicas would have answered.
FOR_WANT_OF_REPLICAS: Final = frozenset(
    {
        "overloaded",
        "no_spare_capacity",
        "queue_full",
        "not_in_time",
        "shed",
        "deadline_exceeded",
        "engine_unavailable",
        "engines_full",
    }
)


class DemandSeen(Struct, frozen=True, kw_only=True):
    """Of one model, since the worker began; what waits is of the moment."""

    ended: int = 0
    refused: int = 0  # that more replicas would have answered
    late: int = 0  # of those that ended, outside their SLO
    risk: float = 0.0  # how many of them routing expected to be late
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    queued: int = 0
    held: int = 0  # of those, because no replica is ready


class _Sums:
    __slots__ = ("cached_tokens", "ended", "late", "output_tokens", "prompt_tokens", "refused", "risk")

    def __init__(self) -> None:
        self.ended = self.refused = self.late = 0
        self.risk = 0.0
        self.prompt_tokens = self.cached_tokens = self.output_tokens = 0


class DemandTally:
    """One per worker."""

    def __init__(self) -> None:
        self._sums: dict[str, _Sums] = {}

    def ended(self, finished: Finished, ended: EndedRequest) -> None:
        """A request that a replica was asked for has ended."""
        sums = self._try_sums(ended.model)
        if sums is None or not ended.replica:
            return
        sums.ended += 1
        sums.late += ended.promise == PROMISE_BROKEN
        sums.prompt_tokens += ended.prompt_tokens
        sums.cached_tokens += ended.cached_tokens
        sums.output_tokens += ended.completion_tokens
        choice = finished.choice
        if choice is not None:
            sums.risk += min(1.0, own_risk(finished.routing_request, choice.forecast))

    def refused(self, record: RequestRecord) -> None:
        """One that no replica was asked for."""
        if record.reason in FOR_WANT_OF_REPLICAS:
            sums = self._try_sums(record.model)
            if sums is not None:
                sums.refused += 1

    def snapshot(self, queued: dict[str, int], without_replicas: set[str]) -> dict[str, DemandSeen]:
        """As of now, with how many wait for each model and which of those have no replica that is ready."""
        models = [*self._sums, *(model for model in queued if model not in self._sums)]
        return {
            model: self._seen(model, queued.get(model, 0), is_held=model in without_replicas)
            for model in models[:MODELS_MAX]
        }

    def _seen(self, model: str, queued: int, *, is_held: bool) -> DemandSeen:
        sums = self._sums.get(model) or _Sums()
        return DemandSeen(
            ended=sums.ended,
            refused=sums.refused,
            late=sums.late,
            risk=sums.risk,
            prompt_tokens=sums.prompt_tokens,
            cached_tokens=sums.cached_tokens,
            output_tokens=sums.output_tokens,
            queued=queued,
            held=queued if is_held else 0,
        )

    def _try_sums(self, model: str) -> _Sums | None:
        known = self._sums.get(model)
        if known is None and len(self._sums) < MODELS_MAX:
            known = self._sums[model] = _Sums()
        return known
