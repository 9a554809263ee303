"""docs/instructions.md from the baseline."""

from itertools import groupby
from pathlib import Path

from benchmarks.instructions.measure import Counted

OPENING = """\
# Instructions per request

User instructions that one request takes of a gateway's worker, counted by callgrind while it answers, less what the
same time without requests takes. Unlike microseconds they are nearly the same on a busy machine, so CI
compares them (`make check-instructions`) and fails where a request takes over 5 % more than is written here.
`make bench-instructions` counts anew and rewrites this page; after `make compile` it counts the compiled form.

What is compiled is counted by package; of what runs as Python only the interpreter is seen. The C library is left out
where CI compares: it looks through bytes in another way on another model of processor. Instructions are not time:
the kernel's are not in them, and those that wait for memory are counted like those that do not.
"""


def write(path: Path, known: dict[str, tuple[Counted, ...]]) -> None:
    """One section a kind of machine, one table a form."""
    parts = [OPENING]
    for kind, counts in known.items():
        parts.append(f"\n## {kind}\n")
        for form, group in groupby(sorted(counts, key=lambda one: one.form), key=lambda one: one.form):
            parts.append(f"\n### {form.capitalize()}\n\n{_table(tuple(group))}\n")
    path.write_text("".join(parts), encoding="utf-8")


def _table(counts: tuple[Counted, ...]) -> str:
    """Parts in the order of their weight, amounts in thousands."""
    weights: dict[str, int] = {}
    for one in counts:
        for part, instructions in one.parts.items():
            weights[part] = weights.get(part, 0) + instructions
    lines = [
        f"| thousand instructions | {' | '.join(f'{one.gateway}: {one.scenario}' for one in counts)} |",
        f"|---|{'---:|' * len(counts)}",
    ]
    lines += [
        _row(part, [one.parts.get(part, 0) for one in counts])
        for part in sorted(weights, key=lambda part: -weights[part])
    ]
    lines.append(_row("**all**", [one.total for one in counts]))
    return "\n".join(lines)


def _row(title: str, amounts: list[int]) -> str:
    return f"| {title} | {' | '.join(f'{amount / 1000:,.1f}' for amount in amounts)} |"
