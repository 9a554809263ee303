"""What the router knows at one moment, for metrics and explanations."""

from msgspec import Struct


class ReplicaStateSnapshot(Struct, frozen=True, kw_only=True):
    """The sums of one replica at one moment."""

    in_flight: int
    waiting: int
    decoding: int
    blind: int  # of those in flight, whose answers come whole
    waiting_tokens: float
    waiting_work_s: float
    blind_work_s: float
    context_tokens: float


class PoolSpeedSnapshot(Struct, frozen=True, kw_only=True):
    """For metrics and the explanation."""

    ttft_factors: tuple[float, float, float]  # of what is before the scheduler, prompts, others' steps
    itl_factors: tuple[float, float, float, float]  # of a step, a sequence, its context, prompts in between
    slots: int | None  # of an engine, as found from its gauges; None: not found, or not limited by them
    ttft_error_ratio: float
    ttft_waiting_error_ratio: float
    itl_error_ratio: float
    samples: int  # of first tokens
    covered: int  # of these, within the span that was told
    itl_samples: int
    itl_covered: int
    is_lost: bool
