"""A ranking of accelerators as a table for people."""

import click

from heterodyne.cli.output import print_table
from heterodyne.planning.hardware.ranking import RankedHardware, Ranking, best_per_accelerator, reason

HEADER = (
    *("HARDWARE", "USD/1M", "REPLICAS", "USD/H", "AT ONCE"),
    *("TTFT MS", "P50", "P99", "ITL MS", "P50", "P99", "KW", "BOUND BY", "RESTS ON"),
)

ABSENT = "-"
NOTE = "Means are of a steady load; P50 and P99 are rehearsed with requests at random moments."


def print_ranking(ranking: Ranking, *, every_width: bool) -> None:
    """The cheapest first, with a sentence on it and the names of those that cannot."""
    shown = ranking.choices if every_width else tuple(best_per_accelerator(ranking.choices))
    print_table(HEADER, [_row(choice) for choice in shown])
    if shown:
        click.echo(f"\n{NOTE}\n{name_of(shown[0])}: {reason(shown[0])}")
    left_out = {one.accelerator for one in ranking.refused} - {one.accelerator for one in ranking.choices}
    if left_out:
        click.echo(f"left out: {', '.join(sorted(left_out))} (--json says why)")


def _row(choice: RankedHardware) -> list[str]:
    return [
        name_of(choice),
        number(choice.usd_per_million_tokens, 2),
        str(choice.replicas),
        number(choice.usd_per_hour, 2),
        str(choice.concurrency),
        f"{choice.served.ttft_s * 1000:.0f}",
        rehearsed_ms(choice, "ttft_p50_s", 0),
        rehearsed_ms(choice, "ttft_p99_s", 0),
        f"{choice.served.itl_s * 1000:.1f}",
        rehearsed_ms(choice, "itl_p50_s", 1),
        rehearsed_ms(choice, "itl_p99_s", 1),
        number(None if choice.power_w is None else choice.power_w / 1000, 1),
        choice.binding,
        choice.basis,
    ]


def name_of(choice: RankedHardware) -> str:
    """As many chips of which accelerator."""
    return f"{choice.tp} x {choice.accelerator}"


def rehearsed_ms(choice: RankedHardware, field: str, digits: int, *, absent: str = ABSENT) -> str:
    """A percentile of the rehearsal."""
    return number(None if choice.spread is None else getattr(choice.spread, field) * 1000, digits, absent=absent)


def number(value: float | None, digits: int, *, absent: str = ABSENT) -> str:
    """With so many digits behind the point."""
    return absent if value is None else f"{value:,.{digits}f}"
