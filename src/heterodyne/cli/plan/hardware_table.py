"""A ranking of accelerators as a table for people."""

from collections.abc import Container, Iterable, Mapping

import click

from heterodyne.cli.output import print_table
from heterodyne.domain.counted import counted
from heterodyne.physics.spread import Range
from heterodyne.planning.hardware.ranges import ChoiceRanges, CostRange
from heterodyne.planning.hardware.ranking import (
    HardwareRequirements,
    RankedHardware,
    Ranking,
    best_per_accelerator,
    nearest_misses,
    reason,
)

HEADER = (
    *("HARDWARE", "USD/1M", "REPLICAS", "USD/H", "REQ/S", "LOAD", "KEPT"),
    *("TTFT P50", "P90", "P99", "ITL P50", "P90", "P99", "BOUND BY", "RESTS ON"),
)
RANGES = ("HARDWARE", "USD/1M", "80% ARE", "CALIBRATED", "TTFT P50", "ITL P50", "RESTS ON")
ABSENT = "-"
ESTIMATED = "~"
LATE = "late"
MISSES_SHOWN = 3
RANGED = 6  # of the cheapest


def print_ranking(
    ranking: Ranking,
    requirements: HardwareRequirements,
    ranges: Mapping[str, ChoiceRanges],
    *,
    every_width: bool,
) -> None:
    """The cheapest first, with a sentence on it and the names of those that cannot; or what comes nearest."""
    shown = ranking.choices if every_width else tuple(best_per_accelerator(ranking.choices))
    if shown:
        print_table(HEADER, [_row(choice) for choice in shown])
        click.echo(f"\n{note(requirements)}\n{name_of(shown[0])}: {reason(shown[0])}\n")
        print_table(RANGES, [_range_row(choice, ranges[name_of(choice)]) for choice in shown[:RANGED]])
        click.echo(f"\n{ranges_note(requirements.quantile)}")
        if priced := prices_note(shown[:RANGED]):
            click.echo(priced)
    else:
        _print_misses(ranking, requirements)
    left_out = {one.accelerator for one in ranking.refused} - {one.accelerator for one in ranking.choices}
    if left_out and shown:
        click.echo(f"left out: {', '.join(sorted(left_out))} (--json says why)")


def print_never_taken_back(ranking: Ranking, counted_on: Container[str]) -> None:
    """Of which spot machines nothing is known: no public list says how often a seller takes one back."""
    shown = tuple(best_per_accelerator(ranking.choices))[:RANGED]
    if names := [one.accelerator for one in shown if one.accelerator not in counted_on]:
        click.echo(
            f"as if they were never taken back: {', '.join(names)}; --spot-interruptions NAME=N says how many times a "
            "day yours are"
        )


def note(requirements: HardwareRequirements) -> str:
    """What the columns mean."""
    slo = requirements.slo
    return (
        f"REQ/S is what one replica carries with {requirements.share:.4g} of requests within {slo.ttft_s * 1000:g} ms "
        f"and {slo.itl_s * 1000:g} ms a token, LOAD that part of what would saturate it; times are in ms, over "
        f"requests that come at random moments: rehearsed, or ({ESTIMATED}) by the formula."
    )


def prices_note(choices: Iterable[RankedHardware]) -> str:
    """Whose prices these are; empty where none has one."""
    each = [f"{one.accelerator} {one.price.usd_per_hour:.2f} ({one.price.seller})" for one in choices if one.price]
    return f"A chip for an hour: {', '.join(dict.fromkeys(each))}." if each else ""


def ranges_note(quantile: float | None) -> str:
    """What the columns of ranges mean, and where in them the ranking stands."""
    taken = "as predicted" if quantile is None else f"at quantile {quantile:.4g} (--quantile) of measured by predicted"
    return (
        f"Step times are taken {taken}, where predictions rest on as much. 80% ARE: between which USD/1M eighty in a "
        f"hundred such replicas are; CALIBRATED: what is left of that about its middle once yours is measured; "
        f"TTFT and ITL: between which medians eighty are, in ms. {LATE}: the promise is not kept."
    )


def _print_misses(ranking: Ranking, requirements: HardwareRequirements) -> None:
    nearest = nearest_misses(ranking.refused, requirements.slo)
    click.echo("No accelerator keeps this promise.")
    for one in nearest[:MISSES_SHOWN]:
        click.echo(f"{one.tp} x {one.accelerator}: {one.reason}")
    if nearest:
        click.echo("Promise more time (--slo-ttft-ms, --slo-itl-ms, --class), or use a smaller --precision.")
    small = len({one.accelerator for one in ranking.refused if one.shortfall is None or one.shortfall.itl_s is None})
    if small:
        click.echo(f"{counted(small, 'accelerator')} hold no request or run no engine we know (--json says why)")


def _row(choice: RankedHardware) -> list[str]:
    load = choice.load
    return [
        name_of(choice),
        number(choice.usd_per_million_tokens, 2),
        str(choice.replicas),
        number(choice.usd_per_hour, 2),
        f"{load.requests_per_s:.3g}",
        f"{load.utilisation:.0%}",
        f"{'' if choice.is_rehearsed else ESTIMATED}{load.kept_share:.1%}",
        *(f"{seconds * 1000:,.0f}" for seconds in (load.ttft.p50_s, load.ttft.p90_s, load.ttft.p99_s)),
        *(f"{seconds * 1000:,.1f}" for seconds in (load.itl.p50_s, load.itl.p90_s, load.itl.p99_s)),
        load.limit,
        choice.basis,
    ]


def _range_row(choice: RankedHardware, ranges: ChoiceRanges) -> list[str]:
    return [
        name_of(choice),
        number(choice.usd_per_million_tokens, 2),
        between(ranges.cost),
        between(ranges.cost_calibrated),
        milliseconds(ranges.ttft_s, 0),
        milliseconds(ranges.itl_s, 1),
        choice.basis,
    ]


def milliseconds(seconds: Range, digits: int) -> str:
    """From the lower to the upper end."""
    return f"{seconds.low * 1000:,.{digits}f}-{seconds.high * 1000:,.{digits}f}"


def between(cost: CostRange | None) -> str:
    """From the lower to the upper end, in dollars."""
    return ABSENT if cost is None else f"{number(cost.low, 2, absent=LATE)}-{number(cost.high, 2, absent=LATE)}"


def name_of(choice: RankedHardware) -> str:
    """As many chips of which accelerator."""
    return f"{choice.tp} x {choice.accelerator}"


def number(value: float | None, digits: int, *, absent: str = ABSENT) -> str:
    """With so many digits behind the point."""
    return absent if value is None else f"{value:,.{digits}f}"
