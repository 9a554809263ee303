"""How far first-token and token times spread around their means, rehearsed on the replica's step machine.

Requests of one shape come at random moments (Poisson) at the rate that keeps as many inside as the plan has at once.
"""

from collections.abc import Callable, Iterator
from math import log

from msgspec import Struct, structs

from heterodyne.physics.replica.from_layout import machine_of, scheduling_of
from heterodyne.physics.replica.job import Job
from heterodyne.physics.replica.simulation import gap_quantile, quantile, simulate_replica
from heterodyne.planning.hardware.candidate import HardwareCandidate
from heterodyne.planning.traffic.request_shape import RequestShape

REQUESTS = 400  # that count, after as many as are inside at once have taken the place of those it began with

Draw = Callable[[], float]  # a random number from 0 up to 1


class LatencySpread(Struct, frozen=True, kw_only=True):
    """Quantiles of what single requests and single tokens get."""

    ttft_p50_s: float
    ttft_p99_s: float
    itl_p50_s: float
    itl_p99_s: float


def latency_spread(
    candidate: HardwareCandidate, shape: RequestShape, *, requests_per_s: float, concurrency: int, draw: Draw
) -> LatencySpread:
    """Rehearse until the quantiles of the last requests are known."""
    prompt_tokens, output_tokens = round(shape.prompt_tokens), round(shape.output_tokens)
    scheduling = scheduling_of(candidate.layout, context_tokens=prompt_tokens + output_tokens)
    # A plan for so many at once also sets the engine to take them.
    scheduling = structs.replace(scheduling, slots=max(scheduling.slots, concurrency))
    machine = machine_of(candidate.layout, candidate.found.profile, scheduling)

    def arrivals() -> Iterator[tuple[float, Job]]:
        # As many as the plan has at once are inside already, somewhere in their answers; their prompts are one and the
        # same, so that making them ready costs next to nothing.
        known = tuple(range(prompt_tokens // scheduling.block_tokens))
        for number in range(concurrency):
            left = 1 + (output_tokens - 1) * number // concurrency
            yield 0.0, Job(id=number, prompt_tokens=prompt_tokens, output_tokens=left, blocks=known)
        at_s = 0.0
        for number in range(concurrency, REQUESTS + 2 * concurrency):
            at_s -= log(1.0 - draw()) / requests_per_s
            yield at_s, Job(id=number, prompt_tokens=prompt_tokens, output_tokens=output_tokens)

    seen = simulate_replica(machine, arrivals())
    counted = [one for one in seen.timings if one.job.id >= 2 * concurrency]
    since_s, until_s = min(one.arrived_at_s for one in counted), max(one.arrived_at_s for one in counted)
    gaps = [one for one in seen.gaps if since_s <= one.at_s <= until_s]
    waits_s = [one.ttft_s for one in counted]
    return LatencySpread(
        ttft_p50_s=quantile(waits_s, 0.5),
        ttft_p99_s=quantile(waits_s, 0.99),
        itl_p50_s=gap_quantile(gaps, 0.5) if gaps else 0.0,
        itl_p99_s=gap_quantile(gaps, 0.99) if gaps else 0.0,
    )
