"""The page of `plan mix`: what to rent, who serves what, and what it saves against a single kind."""

from heterodyne.cli.plan.mix_tables import comparison, in_numbers, prices_of, served_by
from heterodyne.cli.plan.pages.bars import BarSegment, stacked_bar, swatch
from heterodyne.cli.plan.pages.basis_words import bases
from heterodyne.cli.plan.pages.element import Markup, element
from heterodyne.cli.plan.pages.page import PageVerdict, Provenance, item_list, page, paragraph, section
from heterodyne.cli.plan.pages.table import Column, table
from heterodyne.cli.plan.pages.tone import Tone, tone_of
from heterodyne.domain.counted import counted
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.planning.mix.interruptions import hourly_usd
from heterodyne.planning.mix.problem import MixPlan, MixProblem, ReplicaKind, TrafficBucket
from heterodyne.simulator.report import SimulationReport

SINGLE_KINDS_SHOWN = 12
PHASES = {  # what a row of shares adds up, and the roles that stand in it
    "prompts": frozenset({ReplicaRole.BOTH, ReplicaRole.PREFILL}),
    "answers": frozenset({ReplicaRole.BOTH, ReplicaRole.DECODE}),
}
MODELLED = (
    "The rate of every kind within the targets comes from Heterodyne's performance model, and the prices from its "
    "catalogue; “rests on” says how near the measurements behind a rate are."
)
OWN_NUMBERS = "The rates and prices are those of the file the plan was made from; Heterodyne did not check them."


def mix_page(
    problem: MixProblem, plan: MixPlan, *, seen: SimulationReport | None = None, provenance: Provenance
) -> str:
    """The whole page."""
    rate = sum(bucket.requests_per_s for bucket in problem.buckets)
    is_modelled = any(kind.rests_on for kind in problem.kinds)
    return page(
        title="The cheapest mix of replicas",
        question=f"{rate:,.2f} requests/s in {counted(len(problem.buckets), 'bucket')}, "
        f"{counted(len(problem.kinds), 'kind')} of replica to choose from, {problem.headroom:.0%} of each left free"
        + (", critical traffic survives the loss of any one." if problem.survives_one_loss else "."),
        verdict=_verdict(plan, seen),
        sections=(_replicas(problem, plan), _saving(plan), _shares(problem, plan)),
        honesty=MODELLED if is_modelled else OWN_NUMBERS,
        is_modelled=is_modelled,
        provenance=provenance,
    )


def _verdict(plan: MixPlan, seen: SimulationReport | None) -> PageVerdict:
    replicas = counted(sum(plan.replicas.values()), "replica")
    kept = "" if seen is None else f" Simulated under the log, {seen.attainment:.1%} of requests kept the promise."
    return PageVerdict(sentence=f"{replicas} for {plan.usd_per_hour:,.2f} USD/hour; {comparison(plan)}.{kept}")


def _replicas(problem: MixProblem, plan: MixPlan) -> Markup:
    kinds, tones = {kind.name: kind for kind in problem.kinds}, _tones(plan)
    used = [kinds[name] for name in plan.replicas]
    columns = [
        Column[ReplicaKind](heading="kind", cell=lambda kind: swatch(tones[kind.name], kind.name)),
        Column[ReplicaKind](
            heading="replicas", cell=lambda kind: in_numbers(kind, plan.replicas[kind.name]), is_number=True
        ),
        Column[ReplicaKind](
            heading="USD/hour",
            cell=lambda kind: f"{_usd(kind, plan):,.2f}",
            is_number=True,
        ),
        Column[ReplicaKind](heading="busy", cell=lambda kind: f"{plan.utilisation[kind.name]:.0%}", is_number=True),
        Column[ReplicaKind](heading="0 to 100 % busy", cell=lambda kind: _busy(plan.utilisation[kind.name], kind.name)),
        *([Column[ReplicaKind](heading="role", cell=lambda kind: kind.role)] if _has_roles(used) else []),
        *([Column[ReplicaKind](heading="rests on", cell=_rests_on)] if any(one.rests_on for one in used) else []),
    ]
    cost = [
        BarSegment(
            name=kind.name,
            share=_usd(kind, plan) / plan.usd_per_hour if plan.usd_per_hour else 0.0,
            tone=tones[kind.name],
            tooltip=f"{kind.name}: {in_numbers(kind, plan.replicas[kind.name])} for {_usd(kind, plan):,.2f} USD/hour",
        )
        for kind in used
    ]
    return section(
        "What to rent",
        element("figure", stacked_bar(cost, name="Dollars per hour"), element("figcaption", "Dollars per hour.")),
        table(f"Together {plan.usd_per_hour:,.2f} USD/hour.", columns, used),
        item_list(bases(kind.rests_on for kind in used if kind.rests_on)),
        *map(paragraph, prices_of(used)),
        *([_not_ruled_out(plan.gap)] if plan.gap > 0 else []),
    )


def _usd(kind: ReplicaKind, plan: MixPlan) -> float:
    return hourly_usd({kind.name: kind}, {kind.name: plan.replicas[kind.name]})


def _not_ruled_out(gap: float) -> Markup:
    return paragraph(f"Time ran out: a mix up to {gap:.1%} cheaper was not ruled out; fewer buckets or kinds help.")


def _saving(plan: MixPlan) -> Markup:
    alone = sorted(plan.single_kind_usd_per_hour.items(), key=lambda one: one[1])
    if not alone:
        return section("Against a single kind", paragraph("No single kind could serve all of this traffic."))
    rows = [("this mix", plan.usd_per_hour), *alone[:SINGLE_KINDS_SHOWN]]
    most = max(usd_per_hour for _, usd_per_hour in rows) or 1.0
    columns = [
        Column[tuple[str, float]](heading="only", cell=lambda row: row[0]),
        Column[tuple[str, float]](heading="USD/hour", cell=lambda row: f"{row[1]:,.2f}", is_number=True),
        Column[tuple[str, float]](heading="compared", cell=lambda row: _cost(row, most, is_mix=row is rows[0])),
    ]
    left = len(alone) - SINGLE_KINDS_SHOWN
    caption = "What the same traffic would cost on one kind alone, where that kind can serve it at all."
    if left > 0:
        caption += f" {left} dearer ones are not shown."
    return section("Against a single kind", table(caption, columns, rows))


def _cost(row: tuple[str, float], most: float, *, is_mix: bool) -> Markup:
    tone = Tone.GREEN if is_mix else Tone.GREY
    part = BarSegment(name=row[0], share=row[1] / most, tone=tone, tooltip=f"{row[1]:,.2f} USD/hour")
    return stacked_bar([part], name=row[0], height=16.0, is_named=False)


def _shares(problem: MixProblem, plan: MixPlan) -> Markup:
    kinds, tones = {kind.name: kind for kind in problem.kinds}, _tones(plan)
    is_apart = _has_roles([kinds[name] for name in plan.replicas])

    def bar(bucket: TrafficBucket, phase: str) -> Markup:
        parts = [
            BarSegment(name=name, share=share, tone=tones[name], tooltip=f"{name} {share:.0%}")
            for name, share in plan.shares[bucket.name].items()
            if name in tones and kinds[name].role in PHASES[phase]
        ]
        return stacked_bar(parts, name=f"{bucket.name}, {phase}", height=16.0, is_named=False)

    columns = [
        Column[TrafficBucket](heading="bucket", cell=lambda bucket: bucket.name),
        Column[TrafficBucket](heading="requests/s", cell=lambda bucket: f"{bucket.requests_per_s:.3g}", is_number=True),
        Column[TrafficBucket](
            heading="prompts" if is_apart else "served by", cell=lambda bucket: bar(bucket, "prompts")
        ),
        *([Column[TrafficBucket](heading="answers", cell=lambda bucket: bar(bucket, "answers"))] if is_apart else []),
        Column[TrafficBucket](
            heading="in words", cell=lambda bucket: served_by(plan.shares[bucket.name]), is_long=True
        ),
    ]
    legend = element("ul", *(element("li", swatch(tone, name)) for name, tone in tones.items()), class_="legend")
    return section("Who serves what", legend, table("Shares of each bucket's traffic.", columns, problem.buckets))


def _busy(utilisation: float, name: str) -> Markup:
    part = BarSegment(name=name, share=min(1.0, utilisation), tone=Tone.BLUE, tooltip=f"{utilisation:.0%} busy")
    return stacked_bar([part], name=name, height=16.0, is_named=False)


def _tones(plan: MixPlan) -> dict[str, Tone]:
    return {name: tone_of(place) for place, name in enumerate(plan.replicas)}


def _has_roles(kinds: list[ReplicaKind]) -> bool:
    return any(kind.role is not ReplicaRole.BOTH for kind in kinds)


def _rests_on(kind: ReplicaKind) -> str:
    return kind.rests_on or "your numbers"
