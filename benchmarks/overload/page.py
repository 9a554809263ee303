"""docs/overload.md, from what `overload.py` measured."""

from collections.abc import Sequence

from msgspec import Struct

from benchmarks.overload.client import LOST


class TierFigures(Struct, frozen=True, kw_only=True):
    """What one tier saw at one load."""

    asked: int
    answered: int
    good: int  # within both promises
    ttft_p50_ms: float
    ttft_p99_ms: float
    itl_p99_ms: float
    refused: dict[str, int]  # by reason
    refused_p50_ms: float
    refused_p99_ms: float


class Load(Struct, frozen=True, kw_only=True):
    """One load, and whether the machine kept up."""

    load: float  # of the capacity
    asked_per_s: float
    goodput_per_s: float
    answered_per_s: float
    tiers: dict[str, TierFigures]
    depth_max: int
    late_p99_ms: float  # that requests left the client after they were meant to
    gateway_cores: float
    emulator_cores: float
    client_cores: float
    idle_cores: float | None  # of the machine meanwhile; None: it does not say


class Sweep(Struct, frozen=True, kw_only=True):
    """One fleet at several loads."""

    capacity_per_s: float
    behind: list[str]  # emulators that the machine was too slow for
    loads: list[Load]


class Results(Struct, frozen=True, kw_only=True):
    """Everything the page is made from."""

    day: str
    machine: str
    slo_ttft_ms: float
    slo_itl_ms: float
    seconds: float  # that were counted of each load
    told: Sweep  # the gateway knows how many sequences each engine holds at once
    untold: Sweep  # it does not


GOODPUT_MIN, GOLD_MIN, EARLY_MAX = 0.95, 0.95, 0.2  # of the peak; of gold's requests; of the promised TTFT
QUEUE_MAX = 256  # the gateway's default: requests of a class that may wait for a model
TIERS = ("gold", "silver", "bronze")


def page(results: Results) -> str:
    """All of it."""
    return "\n".join(
        [_head(results), *_verdicts(results), "", *_told(results), *_untold(results), *_machine(results), ""]
    )


def _head(results: Results) -> str:
    return f"""\
# Three times too much

<!-- Written by `make bench-overload`; do not edit. -->

Run of {results.day} on {results.machine}. Two emulated replicas of Llama 3.1 8B, an H100 and an L4 in FP8, each with 16
sequences at once and a process of its own in real time, behind `heterodyne serve` with one worker. Its settings are the
defaults but for what the engines hold (`in_flight_max`) and the SLO of the model:
{results.slo_ttft_ms:g} ms to the first token, {results.slo_itl_ms:g} ms a token.
Three projects, one of each tier, have keys in a SQLite store. Prompts have 100 to 500 tokens, answers 20 to 100, and
are streamed; the gateway has to guess how long they will be.

- **Capacity** is what the two engines answer in a second with every slot taken, asked directly:
  {results.told.capacity_per_s:.1f} requests a second. **Load** is what is asked, of that.
- **Arrivals** are Poisson and do not wait for answers: a fifth gold, three tenths silver, half bronze. At a load of 3
  gold alone asks for 60 % of the capacity, silver for 90 % and bronze for 150 %.
- **Good** is an answer within both SLOs as the client sees it, from when the request was meant to leave.
  **Goodput** is good answers a second. Each load lasts {results.seconds:g} s, not counting its first three.
- **Refused after** is the time from when the request was meant to leave to the refusal. Most are refused at once; those
  at the slow end were let in to wait, and their turn did not come in time.

## What was to be shown
"""


def _verdicts(results: Results) -> list[str]:
    loads = results.told.loads
    peak, most = max(one.goodput_per_s for one in loads), loads[-1]
    gold, bronze = most.tiers["gold"], most.tiers["bronze"]
    goodput, attained = most.goodput_per_s / peak, gold.good / gold.asked
    early = bronze.refused_p50_ms / results.slo_ttft_ms
    deepest = max(one.depth_max for one in loads)
    return [
        f"| at a load of {most.load:g} | target | measured | |",
        "|---|---|---|---|",
        f"| goodput, of its peak | >= {GOODPUT_MIN:.0%} | {goodput:.1%} | {_word(goodput >= GOODPUT_MIN)} |",
        f"| gold within its SLO | >= {GOLD_MIN:.0%} | {attained:.1%} | {_word(attained >= GOLD_MIN)} |",
        f"| bronze refused after, median, of the TTFT SLO | <= {EARLY_MAX:.0%} | {early:.1%} "
        f"| {_word(early <= EARLY_MAX)} |",
        f"| refusals without a reason, or answers lost | 0 | {_lost(loads)} | {_word(not _lost(loads))} |",
        f"| longest queue at any load | <= {QUEUE_MAX} | {deepest} | {_word(0 <= deepest <= QUEUE_MAX)} |",
    ]


def _told(results: Results) -> list[str]:
    return ["## By load", "", *_loads(results.told), "", "## By tier", "", *_tiers(results.told), ""]


def _untold(results: Results) -> list[str]:
    return [
        "## Where the gateway does not know how much an engine holds",
        "",
        "The same without `in_flight_max` in the settings of the pools: the gateway thinks that engines hold what vLLM",
        "does by default, 256 sequences, and these hold 16. What it sends beyond that waits in the engines,",
        "in the order it came, from any tenant, and only first tokens that come late hold the gateway back. Gold",
        "cannot be put first there: tell the gateway what engines were started with.",
        "",
        *_loads(results.untold),
        "",
        *_tiers(results.untold),
        "",
    ]


def _loads(sweep: Sweep) -> list[str]:
    peak = max(one.goodput_per_s for one in sweep.loads)
    return [
        "| load | asked /s | answered /s | good /s | of the peak | longest queue |",
        "|---:|---:|---:|---:|---:|---:|",
        *(
            f"| {one.load:g} | {one.asked_per_s:.1f} | {one.answered_per_s:.1f} | {one.goodput_per_s:.1f} "
            f"| {one.goodput_per_s / peak:.0%} | {one.depth_max} |"
            for one in sweep.loads
        ),
    ]


def _tiers(sweep: Sweep) -> list[str]:
    return [
        "| load | tier | asked | good | TTFT p50, p99 | ITL p99 | refused | refused after p50, p99 |",
        "|---:|---|---:|---:|---:|---:|---|---:|",
        *(_tier_row(one.load, tier, one.tiers[tier]) for one in sweep.loads for tier in TIERS),
    ]


def _tier_row(load: float, tier: str, found: TierFigures) -> str:
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(found.refused.items()))
    after = f"{found.refused_p50_ms:.0f}, {found.refused_p99_ms:.0f} ms" if reasons else ""
    return (
        f"| {load:g} | {tier} | {found.asked} | {found.good / max(1, found.asked):.1%} | {found.ttft_p50_ms:.0f}, "
        f"{found.ttft_p99_ms:.0f} ms | {found.itl_p99_ms:.0f} ms | {reasons} | {after} |"
    )


def _machine(results: Results) -> list[str]:
    return [
        "## Whether the machine kept up",
        "",
        "The gateway, the engines, the client and whatever else ran shared its cores. Queues are read from `/metrics`,",
        "four times a second.",
        "",
        *(_machine_line(one) for one in results.told.loads),
        *(f"- {name} could not keep up." for name in results.told.behind),
    ]


def _machine_line(one: Load) -> str:
    idle = "" if one.idle_cores is None else f"; {one.idle_cores:.2f} cores were idle"
    return (
        f"- Load {one.load:g}: requests left within {one.late_p99_ms:.1f} ms (p99). Of a core the gateway took "
        f"{one.gateway_cores:.0%}, the emulators {one.emulator_cores:.0%}, the client {one.client_cores:.0%}{idle}."
    )


def _lost(loads: Sequence[Load]) -> int:
    return sum(figures.refused.get(LOST, 0) for one in loads for figures in one.tiers.values())


def _word(is_met: bool) -> str:
    return "pass" if is_met else "**miss**"
