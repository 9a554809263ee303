"""The page of `plan hardware`: dollars against latency, the ranking, and what was left out."""

from collections.abc import Callable, Mapping

from heterodyne.cli.plan.hardware_table import name_of, number, rehearsed_ms
from heterodyne.cli.plan.pages.basis_words import bases
from heterodyne.cli.plan.pages.chart import Axis, ChartPoint, chart
from heterodyne.cli.plan.pages.element import Markup, element
from heterodyne.cli.plan.pages.mark import legend, vendor_mark
from heterodyne.cli.plan.pages.page import PageVerdict, Provenance, figure, item_list, page, paragraph, section
from heterodyne.cli.plan.pages.table import Column, table
from heterodyne.domain.counted import counted
from heterodyne.physics.hardware import Accelerator
from heterodyne.planning.hardware.ranking import (
    HardwareRequirements,
    OperatingPoint,
    RankedHardware,
    Ranking,
    best_per_accelerator,
    reason,
)

HONESTY = (
    "Times and rates come from Heterodyne's performance model, not from a run of this model on these chips; the column "
    "“rests on” says how near the measurements behind it are. Every row runs as full as the targets allow, so most "
    "stand close to the target that binds them. A price is the lowest on-demand one known for the chip; discounts, "
    "network, storage and staff are not in it."
)
ABSENT = "–"
NONE_BEATS = "The dashed line joins those that none beats in both."
REHEARSED = "Rehearsed on the replica's step machine with requests at random moments"


def hardware_page(
    ranking: Ranking,
    requirements: HardwareRequirements,
    *,
    catalogue: Mapping[str, Accelerator],
    every_width: bool,
    provenance: Provenance,
) -> str:
    """The whole page; the table has each accelerator's cheapest width, or with `every_width` all."""
    best = tuple(best_per_accelerator(ranking.choices))
    return page(
        title=f"Hardware for {requirements.model.name} in {requirements.precision}",
        question=_question(requirements),
        verdict=_verdict(ranking),
        sections=(
            *_charts(ranking, best, requirements, catalogue),
            *_ranking(ranking.choices if every_width else best),
            *_left_out(ranking),
        ),
        honesty=HONESTY,
        is_modelled=True,
        provenance=provenance,
    )


def _question(requirements: HardwareRequirements) -> str:
    return (
        f"Requests of {requirements.prompt_tokens} prompt and {requirements.output_tokens} output tokens, "
        f"{requirements.requests_per_s:g} a second; KV in {requirements.kv_precision}; "
        f"targets: first token within {requirements.slo.ttft_s * 1000:g} ms, "
        f"{requirements.slo.itl_s * 1000:g} ms between tokens."
    )


def _verdict(ranking: Ranking) -> PageVerdict:
    if not ranking.choices:
        return PageVerdict(sentence="No accelerator we know of keeps these targets.", is_good=False)
    first = ranking.choices[0]
    if first.usd_per_million_tokens is None or first.usd_per_hour is None:
        return PageVerdict(sentence=f"{name_of(first)} keeps the targets, but no price is known for any that does.")
    replicas = counted(first.replicas, "replica")
    why = reason(first)
    return PageVerdict(
        sentence=f"Cheapest within the targets: {name_of(first)} at {first.usd_per_million_tokens:,.2f} USD per "
        f"million tokens, {replicas}, {first.usd_per_hour:,.2f} USD/hour. {why[0].upper()}{why[1:]}."
    )


def _charts(
    ranking: Ranking,
    best: tuple[RankedHardware, ...],
    requirements: HardwareRequirements,
    catalogue: Mapping[str, Accelerator],
) -> tuple[Markup, ...]:
    priced = [choice for choice in ranking.choices if choice.usd_per_million_tokens]
    if not priced:
        return ()
    marks = {choice.accelerator: vendor_mark(catalogue[choice.accelerator].vendor) for choice in priced}

    def drawn(what: str, latency_s: Callable[[OperatingPoint], float], target_s: float) -> Markup:
        points = [
            ChartPoint(
                name=f"{name_of(choice)}, {at.concurrency} at once",
                x=latency_s(at) * 1000,
                y=at.usd_per_million_tokens or 0.0,
                mark=marks[choice.accelerator],
                tooltip=_tooltip(choice, at),
                is_faint=choice not in best or at is not choice.curve[-1],
            )
            for choice in priced
            for at in choice.curve
        ]
        name = f"USD per million tokens against {what}"
        drawing = chart(
            points,
            name=name,
            description=f"{len(priced)} ways to serve the model, each from one request at once to as many as the "
            "targets allow; the lower and the further left the better.",
            x=Axis(name=what, target=target_s * 1000, target_words=f"target {target_s * 1000:g} ms"),
            y=Axis(name="USD per 1M tokens"),
        )
        return figure(drawing, f"{name}. {NONE_BEATS}")

    vendors = legend(sorted(set(marks.values()), key=lambda mark: mark.name))
    itl = drawn("ms between tokens (ITL)", lambda at: at.itl_s, requirements.slo.itl_s)
    ttft = drawn("ms to the first token (TTFT)", lambda at: at.ttft_s, requirements.slo.ttft_s)
    explained = paragraph(
        "Large marks run as full as the targets allow. Small ones are the same replicas with fewer requests at once, "
        "and other widths of the same accelerators."
    )
    return (section("Price against latency", vendors, element("div", itl, ttft, class_="pair"), explained),)


def _tooltip(choice: RankedHardware, at: OperatingPoint) -> str:
    return (
        f"{name_of(choice)}, {at.concurrency} at once: {at.usd_per_million_tokens:,.3f} USD per 1M tokens, "
        f"ITL {at.itl_s * 1000:.1f} ms, TTFT {at.ttft_s * 1000:.0f} ms; rests on {choice.basis}"
    )


def _ranking(shown: tuple[RankedHardware, ...]) -> tuple[Markup, ...]:
    if not shown:
        return ()
    rests = item_list(bases(choice.basis for choice in shown))
    days = sorted({choice.price.day for choice in shown if choice.price is not None})
    caption = "The cheapest first; those without a known price last. " + _price_days(days)
    return (section("Ranking", table(caption, COLUMNS, shown), paragraph("“Rests on”:"), rests),)


def _price_days(days: list[str]) -> str:
    if not days:
        return ""
    return f"Prices as of {days[0]}." if len(days) == 1 else f"Prices as of {days[0]} to {days[-1]}."


def _left_out(ranking: Ranking) -> tuple[Markup, ...]:
    served = {choice.accelerator for choice in ranking.choices}
    widths: dict[tuple[str, str], list[int]] = {}
    for one in ranking.refused:
        if one.accelerator not in served:
            widths.setdefault((one.accelerator, one.reason), []).append(one.tp)
    if not widths:
        return ()
    rows = [(name, ", ".join(map(str, chips)), why) for (name, why), chips in widths.items()]
    columns = [
        Column[tuple[str, str, str]](heading="hardware", cell=lambda row: row[0]),
        Column[tuple[str, str, str]](heading="chips", cell=lambda row: row[1]),
        Column[tuple[str, str, str]](heading="why", cell=lambda row: row[2], is_long=True),
    ]
    return (section("Left out", table("Accelerators that cannot at any width tried.", columns, rows)),)


def _ms(choice: RankedHardware, field: str, digits: int) -> str:
    return rehearsed_ms(choice, field, digits, absent=ABSENT)


def _number(value: float | None, digits: int) -> str:
    return number(value, digits, absent=ABSENT)


def _price(choice: RankedHardware) -> str:
    if choice.price is None:
        return ABSENT
    without = ", host apart" if choice.price.is_accelerator_only else ""
    return f"{choice.price.usd_per_hour:,.2f} {choice.price.provider}{without}"


COLUMNS = (
    Column[RankedHardware](heading="hardware", cell=name_of),
    Column[RankedHardware](
        heading="USD/1M",
        cell=lambda one: _number(one.usd_per_million_tokens, 2),
        is_number=True,
        explanation="Dollars per million tokens, prompt and output, at full load",
    ),
    Column[RankedHardware](heading="replicas", cell=lambda one: str(one.replicas), is_number=True),
    Column[RankedHardware](
        heading="USD/h",
        cell=lambda one: _number(one.usd_per_hour, 2),
        is_number=True,
        explanation="All replicas together",
    ),
    Column[RankedHardware](
        heading="at once",
        cell=lambda one: str(one.concurrency),
        is_number=True,
        explanation="Requests at once in a replica within the targets",
    ),
    Column[RankedHardware](
        heading="TTFT ms",
        cell=lambda one: f"{one.served.ttft_s * 1000:.0f}",
        is_number=True,
        explanation="Mean time to the first token",
    ),
    Column[RankedHardware](
        heading="p50", cell=lambda one: _ms(one, "ttft_p50_s", 0), is_number=True, explanation=REHEARSED
    ),
    Column[RankedHardware](
        heading="p99", cell=lambda one: _ms(one, "ttft_p99_s", 0), is_number=True, explanation=REHEARSED
    ),
    Column[RankedHardware](
        heading="ITL ms",
        cell=lambda one: f"{one.served.itl_s * 1000:.1f}",
        is_number=True,
        explanation="Mean time between tokens",
    ),
    Column[RankedHardware](
        heading="p50", cell=lambda one: _ms(one, "itl_p50_s", 1), is_number=True, explanation=REHEARSED
    ),
    Column[RankedHardware](
        heading="p99", cell=lambda one: _ms(one, "itl_p99_s", 1), is_number=True, explanation=REHEARSED
    ),
    Column[RankedHardware](
        heading="kW",
        cell=lambda one: _number(None if one.power_w is None else one.power_w / 1000, 1),
        is_number=True,
        explanation="Rated power of all chips",
    ),
    Column[RankedHardware](heading="bound by", cell=lambda one: one.binding),
    Column[RankedHardware](heading="rests on", cell=lambda one: one.basis),
    Column[RankedHardware](heading="chip USD/h", cell=_price),
)
