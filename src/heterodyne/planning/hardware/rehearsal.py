"""A load rehearsed on the replica's step machine: who keeps the promise, and how the times spread.

Requests of one shape come at random moments (Poisson). As many as the plan has at once are inside when it begins, and
nothing counts until as many again have come.
"""

from collections.abc import Callable, Iterator
from math import ceil, log

from msgspec import Struct

from heterodyne.physics.replica.job import Job, Scheduling
from heterodyne.physics.replica.machine import ReplicaMachine
from heterodyne.physics.replica.simulation import JobTiming, quantile, simulate_replica
from heterodyne.physics.replica.step_clock import StepClock
from heterodyne.physics.serving import Slo
from heterodyne.planning.hardware.sustained import TimeQuantiles
from heterodyne.planning.traffic.request_shape import RequestShape

REQUESTS = 400  # that count

Draw = Callable[[], float]  # a random number from 0 up to 1


class RehearsedLoad(Struct, frozen=True, kw_only=True):
    """What requests got."""

    kept_share: float  # within both times
    ttft: TimeQuantiles
    itl: TimeQuantiles  # of each request's mean


def rehearse(
    clock: StepClock,
    scheduling: Scheduling,
    shape: RequestShape,
    slo: Slo,
    *,
    requests_per_s: float,
    concurrency: float,
    draw: Draw,
    requests: int = REQUESTS,
) -> RehearsedLoad:
    """Until the last request has its answer."""
    prompt_tokens, output_tokens = max(1, round(shape.prompt_tokens)), max(1, round(shape.output_tokens))
    inside = ceil(concurrency)

    def arrivals() -> Iterator[tuple[float, Job]]:
        # Those inside at the beginning are somewhere in their answers; their prompts are one and the same, so that
        # making them ready costs next to nothing.
        known = tuple(range(prompt_tokens // scheduling.block_tokens))
        for number in range(inside):
            left = 1 + (output_tokens - 1) * number // inside
            yield 0.0, Job(id=number, prompt_tokens=prompt_tokens, output_tokens=left, blocks=known)
        at_s = 0.0
        for number in range(inside, requests + 2 * inside):
            at_s -= log(1.0 - draw()) / requests_per_s
            yield at_s, Job(id=number, prompt_tokens=prompt_tokens, output_tokens=output_tokens)

    seen = simulate_replica(ReplicaMachine(clock, scheduling), arrivals())
    counted = [one for one in seen.timings if one.job.id >= 2 * inside]
    ttft_s = [one.ttft_s for one in counted]
    itl_s = [_itl_s(one) for one in counted]
    kept = sum(first_s <= slo.ttft_s and token_s <= slo.itl_s for first_s, token_s in zip(ttft_s, itl_s, strict=True))
    return RehearsedLoad(kept_share=kept / len(counted), ttft=_quantiles(ttft_s), itl=_quantiles(itl_s))


def _itl_s(timing: JobTiming) -> float:
    return (timing.finished_at_s - timing.first_at_s) / max(1, timing.job.output_tokens - 1)


def _quantiles(times_s: list[float]) -> TimeQuantiles:
    return TimeQuantiles(*(quantile(times_s, share) for share in (0.5, 0.9, 0.99)))
