"""The page of `plan hardware`: dollars against latency, the ranking, and what was left out."""

from collections.abc import Callable, Mapping

from msgspec import Struct

from heterodyne.cli.plan.hardware_table import name_of, number
from heterodyne.cli.plan.pages.basis_words import bases
from heterodyne.cli.plan.pages.chart import Axis, ChartPoint, chart
from heterodyne.cli.plan.pages.element import Markup, element
from heterodyne.cli.plan.pages.hardware_ranges import ranges_table
from heterodyne.cli.plan.pages.mark import Mark, legend, vendor_mark
from heterodyne.cli.plan.pages.page import PageVerdict, Provenance, figure, item_list, page, paragraph, section
from heterodyne.cli.plan.pages.table import Column, table
from heterodyne.domain.counted import counted
from heterodyne.physics.hardware import Accelerator
from heterodyne.planning.hardware.ranges import ChoiceRanges
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
    "“rests on” says how near the measurements behind it are. Every row carries as much as the promise allows. A price "
    "is the lowest on-demand one known for the chip; discounts, "
    "network, storage and staff are not in it."
)
ABSENT = "–"
NONE_BEATS = "The dashed line joins those that none beats in both."
REHEARSED = "Over requests at random moments, rehearsed on the replica's step machine"
MISSED_LEAST = 0.01  # percent; fewer are drawn there
SHARE_AXIS_LEAST = 0.8  # of requests that keep the promise; less is not drawn
WITHIN = 1.001


def hardware_page(
    ranking: Ranking,
    requirements: HardwareRequirements,
    *,
    catalogue: Mapping[str, Accelerator],
    every_width: bool,
    provenance: Provenance,
    ranges: Mapping[str, ChoiceRanges] | None = None,
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
            *_ranges(ranking.choices if every_width else best, ranges, requirements),
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
        f"promised to {requirements.share:.4g} of requests: first token within {requirements.slo.ttft_s * 1000:g} ms, "
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


class _Chart(Struct, frozen=True, kw_only=True):
    """What is drawn against the price."""

    what: str
    x_of: Callable[[OperatingPoint], float]
    axis: Axis
    is_within: bool = True  # only loads that keep the promise


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
    slo, allowed = requirements.slo, (1.0 - requirements.share) * 100
    late = Axis(name="% of requests late", target=allowed, target_words=f"promised {allowed:g} %")
    charts = (
        _Chart(what="requests that break the promise", x_of=_late_percent, axis=late, is_within=False),
        _Chart(
            what="ms between tokens (ITL), p99",
            x_of=lambda at: at.itl_p99_s * 1000,
            axis=_axis("ms between tokens, p99", slo.itl_s),
        ),
        _Chart(
            what="ms to the first token (TTFT), p99",
            x_of=lambda at: at.ttft_p99_s * 1000,
            axis=_axis("ms to first token, p99", slo.ttft_s),
        ),
    )
    drawn = [_drawn(one, _points(one, priced, best, marks), len(priced)) for one in charts]
    vendors = legend(sorted(set(marks.values()), key=lambda mark: mark.name))
    explained = paragraph(
        "Large marks carry as much as the promise allows. Small ones are the same replicas with less to do, or with "
        "more than they should, and other widths of the same accelerators."
    )
    return (section("Price against promise and latency", vendors, element("div", *drawn, class_="pair"), explained),)


def _points(
    wanted: _Chart, priced: list[RankedHardware], best: tuple[RankedHardware, ...], marks: Mapping[str, Mark]
) -> list[ChartPoint]:
    return [
        ChartPoint(
            name=f"{name_of(choice)}, {at.requests_per_s:.3g}/s",
            x=wanted.x_of(at),
            y=at.usd_per_million_tokens or 0.0,
            mark=marks[choice.accelerator],
            tooltip=_tooltip(choice, at),
            is_faint=choice not in best or not _is_capacity(choice, at),
        )
        for choice in priced
        for at in choice.curve
        if at.requests_per_s <= choice.load.requests_per_s * WITHIN or not wanted.is_within
        if wanted.x_of(at) > 0.0 and (wanted.is_within or at.kept_share > SHARE_AXIS_LEAST)
    ]


def _drawn(wanted: _Chart, points: list[ChartPoint], ways: int) -> Markup:
    name = f"USD per million tokens against {wanted.what}"
    drawing = chart(
        points,
        name=name,
        description=f"{ways} ways to serve the model, each from a replica that is nearly idle to one that is full; "
        "the lower and the further left the better.",
        x=wanted.axis,
        y=Axis(name="USD per 1M tokens"),
    )
    return figure(drawing, f"{name}. {NONE_BEATS}")


def _late_percent(at: OperatingPoint) -> float:
    return max(MISSED_LEAST, (1.0 - at.kept_share) * 100)


def _axis(name: str, target_s: float) -> Axis:
    return Axis(name=name, target=target_s * 1000, target_words=f"target {target_s * 1000:g} ms")


def _is_capacity(choice: RankedHardware, at: OperatingPoint) -> bool:
    within = [one for one in choice.curve if one.requests_per_s <= choice.load.requests_per_s * WITHIN]
    return bool(within) and at is within[-1]


def _tooltip(choice: RankedHardware, at: OperatingPoint) -> str:
    return (
        f"{name_of(choice)}, {at.requests_per_s:.3g} requests/s: {at.usd_per_million_tokens:,.3f} USD per 1M tokens, "
        f"{at.kept_share:.1%} keep the promise, ITL p99 {at.itl_p99_s * 1000:.1f} ms, "
        f"TTFT p99 {at.ttft_p99_s * 1000:.0f} ms; rests on {choice.basis}"
    )


def _ranking(shown: tuple[RankedHardware, ...]) -> tuple[Markup, ...]:
    if not shown:
        return ()
    rests = item_list(bases(choice.basis for choice in shown))
    days = sorted({choice.price.day for choice in shown if choice.price is not None})
    caption = f"The cheapest first; those without a known price last. {_price_days(days)}"
    return (section("Ranking", table(caption, COLUMNS, shown), paragraph("“Rests on”:"), rests),)


def _ranges(
    shown: tuple[RankedHardware, ...], ranges: Mapping[str, ChoiceRanges] | None, requirements: HardwareRequirements
) -> tuple[Markup, ...]:
    if not shown or ranges is None:
        return ()
    return (section("How sure that is", ranges_table(shown, ranges, requirements)),)


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
        explanation="Dollars per million tokens, prompt and output, at capacity",
    ),
    Column[RankedHardware](heading="replicas", cell=lambda one: str(one.replicas), is_number=True),
    Column[RankedHardware](
        heading="USD/h",
        cell=lambda one: _number(one.usd_per_hour, 2),
        is_number=True,
        explanation="All replicas together",
    ),
    Column[RankedHardware](
        heading="req/s",
        cell=lambda one: f"{one.load.requests_per_s:.3g}",
        is_number=True,
        explanation="What one replica carries within the promise",
    ),
    Column[RankedHardware](
        heading="load",
        cell=lambda one: f"{one.load.utilisation:.0%}",
        is_number=True,
        explanation="That part of the rate at which its queue would grow without end",
    ),
    Column[RankedHardware](
        heading="kept", cell=lambda one: f"{one.load.kept_share:.1%}", is_number=True, explanation=REHEARSED
    ),
    Column[RankedHardware](
        heading="TTFT ms p50",
        cell=lambda one: f"{one.load.ttft.p50_s * 1000:,.0f}",
        is_number=True,
        explanation=REHEARSED,
    ),
    Column[RankedHardware](
        heading="p90",
        cell=lambda one: f"{one.load.ttft.p90_s * 1000:,.0f}",
        is_number=True,
        explanation=REHEARSED,
    ),
    Column[RankedHardware](
        heading="p99",
        cell=lambda one: f"{one.load.ttft.p99_s * 1000:,.0f}",
        is_number=True,
        explanation=REHEARSED,
    ),
    Column[RankedHardware](
        heading="ITL ms p50",
        cell=lambda one: f"{one.load.itl.p50_s * 1000:,.1f}",
        is_number=True,
        explanation=REHEARSED,
    ),
    Column[RankedHardware](
        heading="p90",
        cell=lambda one: f"{one.load.itl.p90_s * 1000:,.1f}",
        is_number=True,
        explanation=REHEARSED,
    ),
    Column[RankedHardware](
        heading="p99",
        cell=lambda one: f"{one.load.itl.p99_s * 1000:,.1f}",
        is_number=True,
        explanation=REHEARSED,
    ),
    Column[RankedHardware](
        heading="kW",
        cell=lambda one: _number(None if one.power_w is None else one.power_w / 1000, 1),
        is_number=True,
        explanation="Rated power of all chips",
    ),
    Column[RankedHardware](heading="bound by", cell=lambda one: one.load.limit),
    Column[RankedHardware](heading="rests on", cell=lambda one: one.basis),
    Column[RankedHardware](heading="chip USD/h", cell=_price),
)
