"""docs/emulator-accuracy.md from what `make bench-emulator` found."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks.machine import describe

if TYPE_CHECKING:
    from benchmarks.emulator.run import Outcome

TARGET = 0.05
HEAD = """\
# How right the emulator is

Written by `make bench-emulator`; do not edit.

`heterodyne emulate` runs as a process of its own, pinned to one core; a client on the same machine sends requests at
random moments (Poisson, seeded) and measures. Beside it the step model alone is rehearsed in virtual time on the very
same arrivals and prompts. What differs between the two is HTTP, timers and the machine. Target: means and medians
within 5 %, with about 200 streams at once.
"""


def render(outcomes: "Sequence[Outcome]") -> str:
    """The page."""
    return "\n".join([HEAD, *(_section(outcome) for outcome in outcomes), f"Taken on {describe()}.\n"])


def _section(outcome: "Outcome") -> str:
    scenario = outcome.scenario
    rows = [
        f"| {one.name} | {one.predicted_ms:,.2f} | {one.measured_ms:,.2f} | {one.error:+.1%} "
        f"| {_verdict(one.name, one.error)} |"
        for one in outcome.figures
    ]
    return "\n".join(
        [
            f"## {scenario.model} on {scenario.tp} x {scenario.hardware}, {scenario.engine}",
            "",
            f"{scenario.rate_requests_per_s:g} requests/s, {scenario.output_tokens} tokens each: "
            f"{outcome.inside_mean:.0f} streams at once on average, {outcome.inside_most} at most; "
            f"{outcome.failed} failed. The emulator used {outcome.emulator_core_share:.0%} of its core.",
            "",
            "| | step model ms | measured ms | difference | |",
            "|---|---:|---:|---:|---|",
            *rows,
            "",
        ]
    )


def _verdict(name: str, error: float) -> str:
    if "p99" in name:
        return ""
    return "pass" if abs(error) <= TARGET else "**miss**"
