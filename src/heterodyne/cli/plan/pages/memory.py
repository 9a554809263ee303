"""The page of `plan memory`: where the memory of each chip goes, the verdict, and the changes that would fit."""

from msgspec import Struct

from heterodyne.cli.output import gib_in_words
from heterodyne.cli.plan.memory_table import part_names, what_fits
from heterodyne.cli.plan.pages.bars import BarSegment, stacked_bar, swatch
from heterodyne.cli.plan.pages.element import Markup
from heterodyne.cli.plan.pages.page import PageVerdict, Provenance, figure, item_list, page, section
from heterodyne.cli.plan.pages.table import Column, table
from heterodyne.cli.plan.pages.tone import Tone
from heterodyne.physics.memory import MemoryBudget
from heterodyne.planning.hardware.fit import Fit, FitChange
from heterodyne.planning.hardware.memory_parts import memory_parts

HONESTY = (
    "Weights and KV are computed from the model's shape and the formats asked for; activations and overhead from what "
    "the engine was seen to take. Nothing was started to find out: leave some room before relying on the last GiB."
)
TONES = {
    "weights": Tone.BLUE,
    "activations": Tone.PURPLE,
    "overhead": Tone.BROWN,
    "kv": Tone.ORANGE,
    "free": Tone.GREEN,
    "unclaimed": Tone.GREY,
}


class ChipMemoryPart(Struct, frozen=True, kw_only=True):
    """One use of a chip's memory."""

    name: str
    size_bytes: float
    tone: Tone


def memory_page(answer: Fit, *, caveats: tuple[str, ...], provenance: Provenance) -> str:
    """The whole page."""
    layout, demand = answer.layout, answer.demand
    chips = f"{layout.tp} x {layout.accelerator.name}" if layout.tp > 1 else layout.accelerator.name
    return page(
        title=f"Memory for {layout.model.name} on {chips}",
        question=f"Weights in {layout.precision}, KV in {layout.kv_precision}, {layout.engine}; "
        f"{demand.concurrency} x {demand.context_tokens} tokens at once.",
        verdict=_verdict(answer),
        sections=(_each_chip(answer), *_changes(answer), *_notes(caveats)),
        honesty=HONESTY,
        is_modelled=False,
        provenance=provenance,
    )


def _verdict(answer: Fit) -> PageVerdict:
    if answer.is_fitting:
        return PageVerdict(sentence=what_fits(answer))
    lacking = f"Does not fit: each chip lacks {gib_in_words(-answer.budget.free_bytes)}."
    if not answer.changes:
        return PageVerdict(sentence=f"{lacking} No single change we know of would make it.", is_good=False)
    return PageVerdict(
        sentence=f"{lacking} The smallest change that would: {answer.changes[0].sentence}.", is_good=False
    )


def _each_chip(answer: Fit) -> Markup:
    budget, demand = answer.budget, answer.demand
    parts = [
        *_parts(budget, kv=f"KV of {demand.concurrency} x {demand.context_tokens} tokens"),
        *([] if answer.is_fitting else [ChipMemoryPart(name="lacking", size_bytes=-budget.free_bytes, tone=Tone.RED)]),
    ]
    columns = [
        Column[ChipMemoryPart](heading="per chip", cell=lambda part: swatch(part.tone, part.name)),
        Column[ChipMemoryPart](heading="memory", cell=lambda part: gib_in_words(part.size_bytes), is_number=True),
        Column[ChipMemoryPart](
            heading="share", cell=lambda part: f"{part.size_bytes / budget.memory_bytes:.0%}", is_number=True
        ),
    ]
    caption = f"Of the {gib_in_words(budget.memory_bytes)} that a program may use of each chip."
    return section("Where the memory of each chip goes", *_drawings(answer), table(caption, columns, parts))


def _drawings(answer: Fit) -> list[Markup]:
    """What is asked for; where it does not fit, below it on the same scale what there is and what lacks."""
    budget = answer.budget
    if answer.is_fitting:
        return [figure(_bar(budget), "The memory of one chip.")]
    whole = budget.memory_bytes - budget.free_bytes
    there = [
        ChipMemoryPart(name="one chip", size_bytes=budget.memory_bytes, tone=Tone.GREY),
        ChipMemoryPart(name="lacking", size_bytes=-budget.free_bytes, tone=Tone.RED),
    ]
    return [
        figure(_bar(budget), "What is asked of one chip."),
        figure(stacked_bar(_segments(there, whole), name="What there is, and what lacks"), _there(budget)),
    ]


def _there(budget: MemoryBudget) -> str:
    return f"What there is: {gib_in_words(budget.memory_bytes)}; {gib_in_words(-budget.free_bytes)} lack."


def _bar(budget: MemoryBudget, *, height: float = 34.0, is_named: bool = True) -> Markup:
    whole = max(budget.memory_bytes, budget.memory_bytes - budget.free_bytes)
    segments = _segments(_parts(budget, kv="KV"), whole)
    return stacked_bar(segments, name="Memory of one chip", height=height, is_named=is_named)


def _segments(parts: list[ChipMemoryPart], whole_bytes: float) -> list[BarSegment]:
    return [
        BarSegment(
            name=part.name,
            share=part.size_bytes / whole_bytes,
            tone=part.tone,
            tooltip=f"{part.name} {gib_in_words(part.size_bytes)}",
        )
        for part in parts
    ]


def _parts(budget: MemoryBudget, *, kv: str) -> list[ChipMemoryPart]:
    """In the order of the bar."""
    names = part_names(kv=kv, is_fitting=budget.is_fitting)
    return [
        ChipMemoryPart(name=names[part], size_bytes=size, tone=TONES[part])
        for part, size in memory_parts(budget).items()
        if part != "free" or budget.is_fitting
    ]


def _changes(answer: Fit) -> tuple[Markup, ...]:
    if not answer.changes:
        return ()
    columns = [
        Column[FitChange](heading="change", cell=lambda change: change.sentence),
        Column[FitChange](heading="then, of each chip", cell=_small_bar),
        Column[FitChange](heading="free", cell=lambda change: gib_in_words(change.budget.free_bytes), is_number=True),
        Column[FitChange](
            heading="sequences at most", cell=lambda change: str(change.budget.concurrency_max), is_number=True
        ),
    ]
    return (section("What would fit", table("Each alone is enough; the smallest first.", columns, answer.changes)),)


def _small_bar(change: FitChange) -> Markup:
    return _bar(change.budget, height=18.0, is_named=False)


def _notes(caveats: tuple[str, ...]) -> tuple[Markup, ...]:
    return (section("Notes", item_list(tuple(f"{caveat}." for caveat in caveats))),) if caveats else ()
