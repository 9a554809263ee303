"""The planner's ratio of roles beside the best that the simulator finds, on recorded lengths."""

import csv
import gzip
from functools import partial
from pathlib import Path

from benchmarks.kv.fleets import NETWORKS, REPLICAS
from benchmarks.kv.results import AdviceRun
from benchmarks.kv.roles import advice
from benchmarks.kv.splits import MIXED, Question, most_rps, near, slo_for, split_way
from benchmarks.routing.processes import in_parallel
from benchmarks.traces.traces import AZURE, SYNTHETIC, read_traces
from heterodyne.planning.traffic.request_shape import RequestShape

ARXIV = "arXiv summaries"
DRAWN = 2000  # requests of each
Draws = list[tuple[int, int]]  # prompt and answer


def advice_runs(data: Path, processes: int) -> list[AdviceRun]:
    """Nothing is reused: only lengths are taken."""
    return in_parallel(_advised, list(_recorded(data).items()), processes=processes, word="advice")


def _recorded(data: Path) -> dict[str, Draws]:
    logs = read_traces(data)
    draws = {
        name: [(one.prompt_tokens, max(1, one.output_tokens)) for one in logs[name].part(0, DRAWN)]
        for name in (AZURE, SYNTHETIC)
    }
    path = data / "traces" / "vidur_arxiv_summarization_lengths.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))[:DRAWN]
    return draws | {ARXIV: [(int(row["num_prefill_tokens"]), int(row["num_decode_tokens"])) for row in rows]}


def _advised(recorded: tuple[str, Draws]) -> AdviceRun:
    name, draws = recorded
    means = RequestShape(
        prompt_tokens=sum(prompt for prompt, _ in draws) / len(draws),
        output_tokens=sum(answer for _, answer in draws) / len(draws),
    )
    # A limit for the longest that are promised it, not for the mean.
    longest = sorted(prompt for prompt, _ in draws)[int(0.95 * len(draws))]
    question = Question(lengths=means, slo=slo_for(longest), draws=draws)
    network = NETWORKS[0]
    planned = advice(means, question.slo, network)
    search = partial(most_rps, question, network=network)
    counts = near(planned.prefilling, REPLICAS)
    by_count = {count: search(split_way(count), guess_rps=planned.split_requests_per_s) for count in counts}
    best = max(by_count, key=lambda count: by_count[count])
    return AdviceRun(
        shape=f"{name}, {means.prompt_tokens:,.0f} in, {means.output_tokens:,.0f} out",
        advised=planned.prefilling,
        best=best,
        advised_requests_per_s=by_count[planned.prefilling],
        best_requests_per_s=by_count[best],
        planned_requests_per_s=planned.split_requests_per_s,
        mixed_planned_requests_per_s=planned.mixed_requests_per_s,
        mixed_requests_per_s=search(MIXED, guess_rps=planned.mixed_requests_per_s),
    )
