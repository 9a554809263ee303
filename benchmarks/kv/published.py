"""Shapes that others have published figures for, as near as the performance model can lay them out."""

from functools import partial

from msgspec import Struct

from benchmarks.kv.fleets import NETWORKS, OPT_13B, Shape
from benchmarks.kv.results import PublishedRun
from benchmarks.kv.roles import advice
from benchmarks.kv.splits import MIXED, Question, most_rps, near, split_way
from benchmarks.routing.processes import in_parallel
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Slo
from heterodyne.planning.traffic.request_shape import RequestShape


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
        "DistServe): OPT-13B on 4 A100-80GB, 200 ms and 100 ms a token for 90 % of ShareGPT",
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
        "150 out; its limits are not given, and its widths differ by role",
        question=Question(
            lengths=RequestShape(prompt_tokens=3000, output_tokens=150),
            slo=Slo(ttft_s=1.0, itl_s=0.02),
            shape=Shape(model="llama-3.1-70b", tp=2, replicas=8, precision=Precision.FP8),
        ),
    ),
)


def published_runs(processes: int) -> list[PublishedRun]:
    """Each on its own."""
    return in_parallel(_claim, CLAIMS, processes=processes, word="published")


def _claim(claim: Published) -> PublishedRun:
    question, network = claim.question, NETWORKS[0]
    shape = question.shape
    planned = advice(question.lengths, question.slo, network, shape)
    guess_rps = planned.mixed_requests_per_s or planned.split_requests_per_s
    search = partial(most_rps, network=network, guess_rps=guess_rps)
    mixed_rps = search(question, MIXED)
    unmixed = Question(
        lengths=question.lengths,
        slo=question.slo,
        shape=Shape(
            model=shape.model,
            chip=shape.chip,
            tp=shape.tp,
            replicas=shape.replicas,
            precision=shape.precision,
            mixes_prompts=False,
        ),
    )
    by_count = {count: search(question, split_way(count)) for count in near(planned.prefilling, shape.replicas)}
    best = max(by_count, key=lambda count: by_count[count])
    return PublishedRun(
        name=claim.name,
        said=claim.said,
        source=claim.source,
        laid_out=f"{shape.replicas} replicas of {shape.tp} x {shape.chip}, {shape.model}, "
        f"{question.lengths.prompt_tokens:,.0f} tokens in and {question.lengths.output_tokens:,.0f} out, "
        f"{question.slo.ttft_s * 1000:,.0f} ms and {question.slo.itl_s * 1000:,.0f} ms a token",
        mixed_requests_per_s=mixed_rps,
        unmixed_requests_per_s=search(unmixed, MIXED),
        split_requests_per_s=by_count[best],
        prefilling=best,
    )
