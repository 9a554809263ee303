"""Traffic for a fleet whose plan knows one length: requests of it, at random moments."""

from random import Random

from heterodyne.planning.traffic.trace_request import TraceRequest


def usual_traffic(*, prompt_tokens: float, output_tokens: float, requests: int, seed: int) -> list[TraceRequest]:
    """One a second on average (Poisson); a rate stretches it."""
    chance = Random(seed)  # noqa: S311 - arrivals, the same for a seed
    at_s, log = 0.0, []
    for _ in range(requests):
        at_s += chance.expovariate(1.0)
        log.append(
            TraceRequest(
                at_s=at_s, prompt_tokens=max(1, round(prompt_tokens)), output_tokens=max(1, round(output_tokens))
            )
        )
    return log
