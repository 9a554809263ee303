"""The answer of `plan memory`, as a table with a verdict or as JSON."""

import click
import msgspec

from heterodyne.cli.output import gib_in_words, print_table
from heterodyne.physics.kv import kv_bytes_per_token, kv_share
from heterodyne.physics.memory import MemoryBudget
from heterodyne.planning.hardware.fit import Fit
from heterodyne.planning.hardware.memory_parts import memory_parts


def print_memory(answer: Fit, caveats: tuple[str, ...]) -> None:
    """As a table, a verdict, and notes on stderr."""
    layout, demand, budget = answer.layout, answer.demand, answer.budget
    chips = f"{layout.tp} x {layout.accelerator.name}" if layout.tp > 1 else layout.accelerator.name
    click.echo(f"{layout.model.name} in {layout.precision} on {chips}, {layout.engine}, KV in {layout.kv_precision}")
    names = part_names(kv=f"KV of {demand.concurrency} x {demand.context_tokens} tokens", is_fitting=answer.is_fitting)
    print_table(
        ("PER CHIP", "MEMORY", "SHARE"),
        [
            (name, gib_in_words(size), f"{size / budget.memory_bytes:.0%}")
            for name, size in (
                *((names[part], abs(size) if part == "free" else size) for part, size in memory_parts(budget).items()),
                ("whole", budget.memory_bytes),
            )
        ],
    )
    click.echo(f"\n{token_kv(answer)}")
    for sentence in _verdict(answer):
        click.echo(sentence)
    for caveat in caveats:
        click.echo(f"Note: {caveat}.", err=True)


def token_kv(answer: Fit) -> str:
    """What one token more of a sequence takes."""
    layout = answer.layout
    whole = kv_bytes_per_token(layout.model, layout.kv_precision)
    chip = whole * kv_share(layout.model, layout.tp)
    each = "" if layout.tp == 1 else f", {chip / 1024:,.1f} KiB on each chip"
    return f"A token of a sequence takes {whole / 1024:,.1f} KiB of keys and values{each}."


def part_names(*, kv: str, is_fitting: bool) -> dict[str, str]:
    """The parts of a chip's memory as people read them."""
    return {
        "weights": "weights",
        "activations": "activations",
        "overhead": "engine overhead",
        "kv": kv,
        "free": "free" if is_fitting else "lacking",
        "unclaimed": "left to others",
    }


def what_fits(answer: Fit) -> str:
    """Of a demand that fits: how much more would."""
    demand, budget = answer.demand, answer.budget
    return (
        f"Fits. At {demand.context_tokens} tokens {_that_fit(budget.concurrency_max)} at once; "
        f"at {demand.concurrency} at once the longest is {budget.context_max_tokens} tokens."
    )


def _that_fit(sequences: int) -> str:
    return "1 sequence fits" if sequences == 1 else f"{sequences} sequences fit"


def _verdict(answer: Fit) -> list[str]:
    if answer.is_fitting:
        return [what_fits(answer)]
    if not answer.changes:
        return ["Does not fit, and no single change we know of would make it."]
    smallest, *others = answer.changes
    return [
        f"Does not fit. The smallest change that does: {smallest.sentence}.",
        *(f"Or {other.sentence}." for other in others),
    ]


def memory_json(answer: Fit, caveats: tuple[str, ...]) -> dict[str, object]:
    """As one object."""
    layout = answer.layout
    return {
        "model": layout.model.name,
        "hardware": layout.accelerator.name,
        "engine": layout.engine,
        "precision": layout.precision,
        "kv_precision": layout.kv_precision,
        "tp": layout.tp,
        "demand": answer.demand,
        "fits": answer.is_fitting,
        "kv_bytes_per_token": kv_bytes_per_token(layout.model, layout.kv_precision),
        "per_chip": _budget_json(answer.budget),
        "changes": [
            {
                "kind": change.kind,
                "sentence": change.sentence,
                "hardware": change.layout.accelerator.name,
                "precision": change.layout.precision,
                "kv_precision": change.layout.kv_precision,
                "tp": change.layout.tp,
                "slots": change.layout.slots,
                "demand": change.demand,
                "per_chip": _budget_json(change.budget),
            }
            for change in answer.changes
        ],
        "caveats": caveats,
    }


def _budget_json(budget: MemoryBudget) -> dict[str, object]:
    return {**msgspec.structs.asdict(budget), "free_bytes": budget.free_bytes}
