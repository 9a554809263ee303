"""The part of docs/routing-bakeoff.md that sets live runs beside their simulation, from routing_live.json."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import msgspec
from msgspec import Struct

HEADING = "## Live, beside the simulation"
POINTS_MAX = 3.0
DIFFERENCE_MAX = 0.15


class Figures(Struct, frozen=True, kw_only=True):
    """Of one run, live or simulated."""

    attainment: float
    ttft_p50_s: float
    ttft_p99_s: float
    itl_p50_s: float
    itl_p99_s: float
    pools: dict[str, int]  # requests that each was given


class LiveRun(Struct, frozen=True, kw_only=True):
    """What a client saw, and whether the machine kept up."""

    figures: Figures
    failed: int
    misshapen: int  # answers with other lengths than the trace's
    hedged: int
    late_p99_ms: float  # that requests left the client after they were meant to
    gateway_cores: float
    emulator_cores: dict[str, float]
    client_cores: float
    idle_cores: float | None  # of the machine meanwhile; None: it does not say
    behind: list[str]  # emulators that the machine was too slow for


class Comparison(Struct, frozen=True, kw_only=True):
    """One policy."""

    policy: str
    slo_ttft_ms: float
    slo_itl_ms: float
    load: float
    requests_per_s: float
    requests: int
    arrivals_s: float
    has_default_settings: bool
    simulated: Figures
    simulated_late: list[Figures]  # the same with arrivals a little late
    live: list[LiveRun]


class Results(Struct, frozen=True, kw_only=True):
    """Everything the section is made from."""

    day: str
    machine: str
    comparisons: list[Comparison]


Measure = Callable[[Figures], float]
TIMES: dict[str, Measure] = {
    "TTFT p50": lambda one: one.ttft_p50_s,
    "TTFT p99": lambda one: one.ttft_p99_s,
    "ITL p50": lambda one: one.itl_p50_s,
    "ITL p99": lambda one: one.itl_p99_s,
}


def read_section(path: Path) -> str:
    """From the results that were kept; nothing where there are none."""
    return section(msgspec.json.decode(path.read_bytes(), type=Results)) if path.exists() else ""


def placed(page: str, text: str) -> str:
    """The page with this section in the place of the old one, or at its end."""
    old = re.compile(rf"^{HEADING}$.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    if old.search(page):
        return old.sub(lambda _: text, page)
    return f"{page.rstrip()}\n\n{text}"


def section(results: Results) -> str:
    """All of it."""
    return "\n".join(
        [
            HEADING,
            "",
            f"""\
Run of {results.day} on {results.machine}. Emulated replicas of Llama 3.1 8B (H100, MI300X,
four TPU v5e, L4 in FP8), each a process of its own in real time, behind `heterodyne serve` with one worker; a client
replays the Azure trace's arrivals and lengths. The simulator is given the same fleet, arrivals, lengths, service level
and policy, and knows nothing of sockets, timers and what the gateway takes. `make bench-routing-live` repeats it.

- **Lengths.** Every request allows the same number of tokens, more than any has, so the gateway has to guess how long
  answers will be, as the simulated router has to. Prompts count one token for four characters, which the gateway learns
  exactly; a real tokenizer would leave it an error of some per cent.
- **Differences.** The median of the live runs against the simulation; in brackets the range of the runs. *Noise* is the
  range of the simulation when every arrival is up to 3 ms late: what the least disturbance changes by itself.
- **Left out.** The gateway neither hedges nor learns limits of concurrency, because the simulator does neither; where
  it does, the heading says so.
""",
            *(_comparison(one) for one in results.comparisons),
        ]
    )


def _comparison(one: Comparison) -> str:
    title = f"### `{one.policy}`" + (", with the gateway's defaults" if one.has_default_settings else "")
    return "\n".join(
        [
            title,
            "",
            f"{one.requests:,} requests in {one.arrivals_s:.0f} s, load {one.load:g}; *within* is {one.slo_ttft_ms:g} "
            f"ms to the first token and {one.slo_itl_ms:g} ms a token.",
            "",
            "| | simulated | noise | live | difference | target | |",
            "|---|---:|---:|---:|---:|---:|---|",
            _attainment_row(one),
            *(_time_row(one, name, measure) for name, measure in TIMES.items()),
            *(_pool_row(one, pool) for pool in one.simulated.pools),
            "",
            *(_machine_line(number, run) for number, run in enumerate(one.live, 1)),
            "",
        ]
    )


def _attainment_row(one: Comparison) -> str:
    shares = [100 * run.figures.attainment for run in one.live]
    simulated, live = 100 * one.simulated.attainment, median(shares)
    noise = _range([100 * late.attainment for late in one.simulated_late], 2)
    points = live - simulated
    return (
        f"| within both | {simulated:.2f} % | {noise} | {live:.2f} ({_range(shares, 2)}) % | {points:+.2f} points "
        f"| ± {POINTS_MAX:g} points | {_word(abs(points) <= POINTS_MAX)} |"
    )


def _time_row(one: Comparison, name: str, measure: Measure) -> str:
    times_ms = [1000 * measure(run.figures) for run in one.live]
    simulated, live = 1000 * measure(one.simulated), median(times_ms)
    noise = _range([1000 * measure(late) for late in one.simulated_late], 1)
    share = live / simulated - 1
    return (
        f"| {name} | {simulated:.1f} ms | {noise} | {live:.1f} ({_range(times_ms, 1)}) ms | {share:+.1%} "
        f"| ± {DIFFERENCE_MAX:.0%} | {_word(abs(share) <= DIFFERENCE_MAX)} |"
    )


def _pool_row(one: Comparison, pool: str) -> str:
    counts = [float(run.figures.pools.get(pool, 0)) for run in one.live]
    simulated, live = one.simulated.pools[pool], median(counts)
    noise = _range([float(late.pools[pool]) for late in one.simulated_late], 0)
    points = 100 * (live - simulated) / one.requests
    return (
        f"| requests on {pool} | {simulated:,} | {noise} | {live:,.0f} ({_range(counts, 0)}) "
        f"| {points:+.1f} points of all | | |"
    )


def _range(values: Sequence[float], digits: int) -> str:
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


def _word(is_met: bool) -> str:
    return "pass" if is_met else "**miss**"


def _machine_line(number: int, run: LiveRun) -> str:
    emulators = ", ".join(f"{name} {cores:.0%}" for name, cores in run.emulator_cores.items())
    idle = "" if run.idle_cores is None else f"; {run.idle_cores:.2f} cores were idle"
    behind = f"; {', '.join(run.behind)} could not keep up" if run.behind else ""
    return (
        f"- Run {number}: {run.failed} failed, {run.misshapen} of another length, {run.hedged} hedged; requests left "
        f"within {run.late_p99_ms:.1f} ms (p99). Of a core the gateway took {run.gateway_cores:.0%}, the client "
        f"{run.client_cores:.0%}, emulators {emulators}{idle}{behind}."
    )
