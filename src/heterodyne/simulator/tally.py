"""What a run brought about, one number per request and question, until a report is made of it."""

from collections.abc import Sequence

from msgspec import Struct

from heterodyne.routing.routing_choice import Forecast
from heterodyne.simulator.batch import BatchTally
from heterodyne.simulator.replica import SimulatedReplica
from heterodyne.simulator.workload import SimulatedRequest


class ForecastRecord(Struct, frozen=True, kw_only=True, gc=False):
    """Figures of a forecast as they were when it was made: its bounds move with what is learned later."""

    pool: str
    at_s: float
    ttft_s: float
    ttft_low_s: float
    ttft_high_s: float
    itl_s: float
    itl_low_s: float
    itl_high_s: float


def record_forecast(forecast: Forecast, now_s: float) -> ForecastRecord:
    """As it is now."""
    return ForecastRecord(
        pool=forecast.state.replica.pool,
        at_s=now_s,
        ttft_s=forecast.ttft_s,
        ttft_low_s=forecast.ttft_low_s,
        ttft_high_s=forecast.ttft_high_s,
        itl_s=forecast.itl_s,
        itl_low_s=forecast.itl_low_s,
        itl_high_s=forecast.itl_high_s,
    )


class SimulationTally:
    """Grows while the run lasts."""

    __slots__ = (
        "batch",
        "cached_tokens",
        "ended_at_s",
        "itl_s",
        "kv_arrived",
        "kv_failed",
        "last_came_at_s",
        "output_tokens",
        "predicted",
        "prompt_tokens",
        "refusals",
        "refused",
        "replicas",
        "total_s",
        "ttft_s",
    )

    def __init__(self, replicas: Sequence[SimulatedReplica]) -> None:
        self.replicas = replicas
        self.batch: BatchTally | None = None  # of its lines, which are counted nowhere else
        self.refused = 0  # too long for every replica
        self.refusals: dict[str, int] = {}  # by admission, by error code
        self.last_came_at_s = 0.0
        self.ended_at_s = 0.0
        self.prompt_tokens = 0
        self.cached_tokens = 0
        self.kv_arrived = 0  # prompts, or parts of them, that came from elsewhere
        self.kv_failed = 0  # that should have, and were computed
        # Of each request that was answered, in the order they ended.
        self.ttft_s: list[float] = []
        self.itl_s: list[float] = []  # the mean between two of its tokens
        self.total_s: list[float] = []
        self.output_tokens: list[int] = []
        self.predicted: list[ForecastRecord] = []  # empty where the trial does not keep them

    def end(
        self,
        request: SimulatedRequest,
        first_at_s: float,
        now_s: float,
        cached_tokens: int,
        predicted: ForecastRecord | None = None,
    ) -> None:
        """One is answered."""
        self.ended_at_s = now_s
        self.prompt_tokens += request.prompt_tokens
        self.cached_tokens += cached_tokens
        self.ttft_s.append(first_at_s - request.at_s)
        self.itl_s.append((now_s - first_at_s) / max(1, request.output_tokens - 1))
        self.total_s.append(now_s - request.at_s)
        self.output_tokens.append(request.output_tokens)
        if predicted is not None:
            self.predicted.append(predicted)
