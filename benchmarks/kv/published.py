"""Shapes that others have published figures for, as near as the performance model can lay them out."""

from msgspec import Struct

from benchmarks.kv.fleets import NETWORKS, OPT_13B, KvNetwork, Shape
from benchmarks.kv.results import LayoutRun, PublishedRun
from benchmarks.kv.splits import Question, most_rps
from benchmarks.kv.widths import ChipLayout, layouts
from benchmarks.routing.processes import in_parallel
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Slo
from heterodyne.planning.traffic.request_shape import RequestShape

HALVINGS = 6  # largest rates to about a thirtieth


class Published(Struct, frozen=True, kw_only=True):
    """One claim."""

    name: str
    said: str
    source: str
    question: Question


CLAIMS = (
    Published(
        name="DistServe, chat",
        said="up to 7.4 times the requests within both limits (OSDI'24 abstract; 4.48 in the preprint)",
        source="arXiv 2401.09670; model, chips and limits from the README of its simulator (github.com/LLMServe/"
        "DistServe): OPT-13B on 4 A100-80GB, 200 ms and 100 ms a token for 90 % of ShareGPT; its Table 3 has "
        "prompts on 2 chips, answers on 1",
        question=Question(
            lengths=RequestShape(prompt_tokens=700, output_tokens=200),
            slo=Slo(ttft_s=0.2, itl_s=0.1),
            shape=Shape(model=OPT_13B.name, chip="a100-80gb", replicas=4),
        ),
    ),
    Published(
        name="Splitwise, conversation",
        said="2.35 times the throughput at the same cost and power, or 1.4 times at 20 % less (up to)",
        source="arXiv 2311.18677 and microsoft.com/en-us/research; its best clusters mix H100 and A100, these do not",
        question=Question(
            lengths=RequestShape(prompt_tokens=1100, output_tokens=200),
            slo=Slo(ttft_s=1.0, itl_s=0.03),
            shape=Shape(model="llama-3.1-70b", tp=8, replicas=8),
        ),
    ),
    Published(
        name="Dynamo, Llama 70B",
        said="30 % more a GPU on one node of H100, over twice as much on two",
        source="github.com/ai-dynamo/dynamo, docs/architecture: R1-Distilled-Llama-70B in FP8, vLLM, 3,000 tokens in, "
        "150 out; its limits are not given",
        question=Question(
            lengths=RequestShape(prompt_tokens=3000, output_tokens=150),
            slo=Slo(ttft_s=1.0, itl_s=0.02),
            shape=Shape(model="llama-3.1-70b", tp=2, replicas=8, precision=Precision.FP8),
        ),
    ),
)


def published_runs(processes: int) -> list[PublishedRun]:
    """Every layout of each on its own."""
    network = NETWORKS[0]
    every = [(claim, layout) for claim in CLAIMS for layout in _planned(claim.question, network)]
    found = in_parallel(_layout, [layout for _, layout in every], processes=processes, word="published")
    return [
        PublishedRun(
            name=claim.name,
            said=claim.said,
            source=claim.source,
            asked=_asked(claim.question),
            layouts=[one for (known, _), one in zip(every, found, strict=True) if known is claim],
        )
        for claim in CLAIMS
    ]


def _planned(question: Question, network: KvNetwork) -> list[tuple[ChipLayout, float]]:
    """With the rate that the search begins with, which is another's where the plan gives a layout none."""
    found = layouts(question, network)
    best_rps = max(layout.planned_requests_per_s for layout in found)
    return [(layout, layout.planned_requests_per_s or best_rps) for layout in found]


def _layout(guessed: tuple[ChipLayout, float]) -> LayoutRun:
    layout, guess_rps = guessed
    return LayoutRun(
        kind=layout.kind,
        laid_out=layout.words,
        is_one_width=layout.is_one_width,
        planned_requests_per_s=layout.planned_requests_per_s,
        requests_per_s=most_rps(layout.question, layout.way, NETWORKS[0], guess_rps=guess_rps, halvings=HALVINGS),
    )


def _asked(question: Question) -> str:
    shape, lengths, slo = question.shape, question.lengths, question.slo
    return (
        f"{shape.chips} x {shape.chip}, {shape.model}, {lengths.prompt_tokens:,.0f} tokens in and "
        f"{lengths.output_tokens:,.0f} out, {slo.ttft_s * 1000:,.0f} ms and {slo.itl_s * 1000:,.0f} ms a token"
    )
