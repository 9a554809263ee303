"""docs/parity.md from what `make bench-parity` found."""

from collections.abc import Sequence

from msgspec import Struct

from benchmarks.machine import describe
from heterodyne.cli.parity.verdict_table import split_cell
from heterodyne.domain.parity import ParityMeasures
from heterodyne.parity.limits import limits_of

HEAD = """\
# How far builds are from what they were built from

Written by `make bench-parity`; do not edit. What the columns mean, and what is done with them, is in
[guides/parity.md](guides/parity.md).

The model is SmolLM2-135M-Instruct, imported from its GGUF in Q4_1 and widened to SafeTensors in 16 bits, which every
build is judged by: 16 texts of 48 tokens, each position scored by llama.cpp with the build and by the reference pass
with the SafeTensors.
"""


class Build(Struct, frozen=True, kw_only=True):
    """One file beside the reference."""

    name: str
    size_bytes: int
    measures: ParityMeasures | None
    breaches: tuple[str, ...]
    took_s: float


class Alarms(Struct, frozen=True, kw_only=True):
    """A sound build, judged many times on other texts."""

    precision: str
    runs: int
    texts: int
    failed: int
    worst: ParityMeasures  # that with the largest KL


def render(builds: Sequence[Build], others: Sequence[Build], damages: Sequence[Build], alarms: Sequence[Alarms]) -> str:
    """The page."""
    return "\n".join(
        [
            HEAD,
            f"Measured on {describe()}.\n",
            "## Every precision\n",
            "| Precision | Size | Top-1 | Unexplained | KL (nats) | Perplexity | First split | Verdict |",
            "|---|---|---|---|---|---|---|---|",
            *(_row(build, build.name) for build in builds),
            "",
            "Top-1 is the share of positions with the same likeliest token. Unexplained are those that part although "
            "the reference preferred its own by more than the precision's near-tie. Perplexity is a multiple of the "
            "reference's. The first split is after how many tokens, written without help, the earliest of four "
            "continuations left what the reference would have written, and by how many nats it preferred its own.\n",
            "## Other formats and engines\n",
            "| Run by, as | Size | Top-1 | Unexplained | KL (nats) | Perplexity | First split | Verdict |",
            "|---|---|---|---|---|---|---|---|",
            *(_row(build, build.name) for build in others),
            "",
            "vLLM and JAX run on the CPU here; vLLM cuts activations to eight bits where weights have eight.\n",
            "## Damaged builds\n",
            "Each is a build in q8_0 of weights or a tokenizer that were damaged in one way.\n",
            "| Damage | Top-1 | Unexplained | KL (nats) | Perplexity | Stopped by |",
            "|---|---|---|---|---|---|",
            *(_damage_row(build) for build in damages),
            "",
            *_alarm_lines(alarms),
            "## Bounds\n",
            "| Precision | Top-1, at least | Near-tie (nats) | Unexplained, at most | KL, at most | Perplexity in |",
            "|---|---|---|---|---|---|",
            *(_bound_row(build.name) for build in builds),
            "",
        ]
    )


def _alarm_lines(alarms: Sequence[Alarms]) -> list[str]:
    if not alarms:
        return []
    return [
        "## False alarms\n",
        "A sound build is judged again and again, each time on 16 other texts of GSM8K, HumanEval, IFEval and "
        "BIG-Bench Hard.\n",
        "| Precision | Runs | Drawn from | Stopped | Largest KL of a run | its top-1 |",
        "|---|---|---|---|---|---|",
        *(
            f"| {one.precision} | {one.runs} | {one.texts} texts | {one.failed} | {one.worst.kl_nats:.4f} | "
            f"{one.worst.top1_agreement:.1%} |"
            for one in alarms
        ),
        "",
    ]


def _row(build: Build, precision: str) -> str:
    measures = build.measures
    if measures is None:
        return f"| {precision} | {build.size_bytes / 1e6:.0f} MB | - | - | - | - | - | {'; '.join(build.breaches)} |"
    verdict = "; ".join(build.breaches) or "passed"
    return (
        f"| {precision} | {build.size_bytes / 1e6:.0f} MB | {_cells(measures)} | {split_cell(measures)} | {verdict} |"
    )


def _damage_row(build: Build) -> str:
    cells = "- | - | - | -" if build.measures is None else _cells(build.measures)
    return f"| {build.name} | {cells} | {'; '.join(build.breaches) or 'not stopped'} |"


def _bound_row(precision: str) -> str:
    limits = limits_of(precision)
    return (
        f"| {precision} | {limits.top1_agreement:.0%} | {limits.tie_nats:g} | {limits.unexplained_share:.1%} | "
        f"{limits.kl_nats:g} | {limits.perplexity_ratio:g} |"
    )


def _cells(measures: ParityMeasures) -> str:
    return (
        f"{measures.top1_agreement:.1%} | {measures.unexplained_share:.1%} | {measures.kl_nats:.5f} | "
        f"{measures.perplexity_ratio:.3f}"
    )
