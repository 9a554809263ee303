"""docs/rollout-live.md from what `make bench-rollout` found."""

from collections.abc import Sequence

from msgspec import Struct

from benchmarks.machine import describe

HEAD = """\
# What a rollout does with good and bad candidates, live

Written by `make bench-rollout`; do not edit. What is done and why is in [guides/rollouts.md](guides/rollouts.md).

A real gateway over {count} emulated replicas, {replicas} of the baseline and as many of the candidate, each an H100
with Llama 3.1 8B. TTFT and ITL are how many times the baseline's the candidate's were. They are compared as they are,
so that two things are to be known of them. A candidate with too few replicas for its share gets slow and is taken back
for it: with one beside eight of the baseline a good one was, at half of the conversations. And where the baseline is
busy, a candidate that is idle at 1 % looks faster than it is: with four replicas on each side one that was 30 % slower
had a TTFT 14 to 31 % below the baseline's.

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
