"""docs/rollout-live.md from what `make bench-rollout` found."""

from collections.abc import Sequence

from msgspec import Struct

from benchmarks.machine import describe

HEAD = """\
# What a rollout does with good and bad candidates, live

Written by `make bench-rollout`; do not edit. What is done and why is in [guides/rollouts.md](guides/rollouts.md).

A real gateway over {count} emulated replicas, {replicas} of the baseline and as many of the candidate, each an H100
with Llama 3.1 8B. While shares are small the candidate uses one of its replicas, and its times are compared with one of
the baseline's that gets as much. TTFT and ITL are how many times that control group's the candidate's were.

Every request is a conversation of its own, at {rate:g} a second; the plan is the default one. Exposed are all requests
that the candidate answered, in share of all from the start of the rollout to its end.

Measured on {machine}.
"""


class Played(Struct, frozen=True, kw_only=True):
    """One rollout."""

    name: str
    status: str
    why: str
    stage: str  # where it ended
    requests: int
    exposed: int
    candidate_requests: int  # that it was judged by
    failed: int  # requests whose client got an error
    seconds: float
    ttft_ratio: float  # times the baseline's
    itl_ratio: float


def render(played: Sequence[Played], rate: float, replicas: int) -> str:
    """The page."""
    rows = [
        f"| {one.name} | {one.status.replace('_', ' ')} | {one.why or '-'} | {one.stage} | {one.requests:,} | "
        f"{one.exposed:,} ({one.exposed / max(1, one.requests):.2%}) | "
        f"{one.ttft_ratio:.2f} | {one.itl_ratio:.2f} | {one.failed} | {one.seconds:.0f} s |"
        for one in played
    ]
    return "\n".join(
        [
            HEAD.format(rate=rate, machine=describe(), replicas=replicas, count=2 * replicas),
            "| Candidate | Ended | Why | At | Requests | Exposed | TTFT | ITL | Failed | Took |",
            "|---|---|---|---|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )
