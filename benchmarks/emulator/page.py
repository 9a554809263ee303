"""docs/emulator-accuracy.md from what `make bench-emulator` found."""

from collections.abc import Sequence

from msgspec import Struct

from benchmarks.machine import describe
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.precision import Precision

TARGET = 0.05
HEAD = """\
# How right the emulator is

Written by `make bench-emulator`; do not edit.

`heterodyne emulate` runs as a process of its own, pinned to one core; a client on the same machine sends requests at
random moments (Poisson, seeded) and measures. Beside it the step model alone is rehearsed in virtual time on the very
same arrivals and prompts. What differs between the two is HTTP, timers and the machine. Target: means and medians
within 5 %, with about 200 streams at once.
"""


class Scenario(Struct, frozen=True, kw_only=True):
    """One emulated replica and its load: requests at random moments, about 200 inside at once."""

    hardware: str
    model: str
    precision: Precision
    tp: int
    engine: EngineKind
    rate_requests_per_s: float
    prompt_words: int
    output_tokens: int


class Figure(Struct, frozen=True, kw_only=True):
    """One time, predicted and measured."""

    name: str
    predicted_ms: float
    measured_ms: float

    @property
    def error(self) -> float:
        """Relative, signed."""
        return self.measured_ms / self.predicted_ms - 1


class Outcome(Struct, frozen=True, kw_only=True):
    """What one scenario showed."""

    scenario: Scenario
    inside_mean: float
    inside_most: int
    failed: int
    emulator_core_share: float
    client_core_share: float
    figures: tuple[Figure, ...]


def render(outcomes: Sequence[Outcome]) -> str:
    """The page."""
    return "\n".join([HEAD, *(_section(outcome) for outcome in outcomes), f"Taken on {describe()}.\n"])


def _section(outcome: Outcome) -> str:
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
            f"{outcome.failed} failed. The emulator used {outcome.emulator_core_share:.0%} of its core, the client "
            f"{outcome.client_core_share:.0%} of one.",
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
