"""`make bench-emulator`: what a client measures on emulated engines, beside what the step model says of that load."""

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from random import Random

import uvloop

from benchmarks.emulator.page import Figure, Outcome, Scenario, render
from benchmarks.process_cpu import tree_usage
from heterodyne.bench.lengths import Fixed
from heterodyne.bench.load_generator import arrivals
from heterodyne.bench.plan import ArrivalProcess, BenchPlan
from heterodyne.bench.prompts import Prompts
from heterodyne.bench.report import BenchReport
from heterodyne.bench.run import run
from heterodyne.domain.operation import Operation
from heterodyne.emulator import tokenizer
from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.memory import Layout
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.physics.profile_catalogue import profile_for
from heterodyne.physics.replica.from_layout import machine_of, scheduling_of
from heterodyne.physics.replica.job import Job
from heterodyne.physics.replica.simulation import SimulatedTimings, gap_quantile, quantile, simulate_replica

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "emulator-accuracy.md"
CONTEXT_TOKENS = 8192
SEED = 11


SCENARIOS = (
    Scenario(
        hardware="h100-sxm", model="llama-3.1-70b", precision=Precision.FP8, tp=2, engine=EngineKind.VLLM,
        rate_requests_per_s=19.0, prompt_words=150, output_tokens=250,
    ),
    Scenario(
        hardware="mi300x", model="llama-3.1-70b", precision=Precision.FP8, tp=1, engine=EngineKind.VLLM,
        rate_requests_per_s=17.0, prompt_words=150, output_tokens=250,
    ),
    Scenario(
        hardware="h200-sxm", model="llama-3.1-8b", precision=Precision.FP8, tp=1, engine=EngineKind.SGLANG,
        rate_requests_per_s=62.0, prompt_words=100, output_tokens=250,
    ),
)  # fmt: skip


def main() -> int:
    """Print the page and write it."""
    options = _options()
    outcomes = [_outcome(scenario, options.requests) for scenario in SCENARIOS]
    page = render(outcomes)
    if not options.no_page:
        PAGE.write_text(page)
    print(page)
    return 0


def _outcome(scenario: Scenario, requests: int) -> Outcome:
    rehearsed = _rehearse(scenario, requests)
    with _emulator(scenario) as (url, pid):
        report, core_share, client_share = _measure(scenario, requests, url, pid)
    ttft, itl, e2e = report.ttft_ms, report.itl_ms, report.e2e_ms
    if ttft is None or itl is None or e2e is None:
        raise SystemExit(f"nothing was answered: {report.failures} {report.failure_examples}")
    waits_s = [one.ttft_s for one in rehearsed.timings]
    whole_s = [one.finished_at_s - one.arrived_at_s for one in rehearsed.timings]
    gaps = rehearsed.gaps
    mean_gap_s = sum(one.gap_s * one.count for one in gaps) / sum(one.count for one in gaps)
    pairs = (
        ("TTFT mean", statistics.fmean(waits_s), ttft.mean),
        ("TTFT p50", quantile(waits_s, 0.5), ttft.p50),
        ("TTFT p99", quantile(waits_s, 0.99), ttft.p99),
        ("ITL mean", mean_gap_s, itl.mean),
        ("ITL p50", gap_quantile(gaps, 0.5), itl.p50),
        ("ITL p99", gap_quantile(gaps, 0.99), itl.p99),
        ("end to end mean", statistics.fmean(whole_s), e2e.mean),
    )
    span_s = max(one.finished_at_s for one in rehearsed.timings) - min(one.arrived_at_s for one in rehearsed.timings)
    return Outcome(
        scenario=scenario,
        inside_mean=sum(whole_s) / span_s,
        inside_most=_most_inside(rehearsed),
        failed=report.failed,
        emulator_core_share=core_share,
        client_core_share=client_share,
        figures=tuple(Figure(name=name, predicted_ms=1000 * s, measured_ms=ms) for name, s, ms in pairs),
    )


def _rehearse(scenario: Scenario, requests: int) -> SimulatedTimings:
    """The step model alone, in virtual time, on the very arrivals and prompts the client will send."""
    spec, chip = model_spec(scenario.model), accelerator(scenario.hardware)
    layout = Layout(model=spec, accelerator=chip, precision=scenario.precision, tp=scenario.tp, engine=scenario.engine)
    found = profile_for(spec, chip, engine=scenario.engine, precision=scenario.precision, tp=scenario.tp)
    machine = machine_of(layout, found.profile, scheduling_of(layout, context_tokens=CONTEXT_TOKENS))
    prompts = Prompts(seed=SEED, shared_prefix_tokens=0)
    moments = arrivals(ArrivalProcess.POISSON, scenario.rate_requests_per_s, Random(f"arrivals {SEED}"))
    jobs = [
        (at_s, Job(id=index, prompt_tokens=_tokens(prompts, index, scenario), output_tokens=scenario.output_tokens))
        for index, at_s in enumerate(islice(moments, requests))
    ]
    return simulate_replica(machine, jobs)


def _tokens(prompts: Prompts, index: int, scenario: Scenario) -> int:
    return tokenizer.count(prompts.text(index, scenario.prompt_words).encode())


def _most_inside(rehearsed: SimulatedTimings) -> int:
    changes = sorted(change for one in rehearsed.timings for change in ((one.arrived_at_s, 1), (one.finished_at_s, -1)))
    inside = most = 0
    for _, change in changes:
        inside += change
        most = max(most, inside)
    return most


@contextmanager
def _emulator(scenario: Scenario) -> Iterator[tuple[str, int]]:
    """A process of its own, on the first core alone."""
    command = [
        sys.executable, "-m", "heterodyne", "emulate", "--port", "0", "--hardware", scenario.hardware,
        "--model", scenario.model, "--precision", scenario.precision, "--tp", str(scenario.tp),
        "--engine", scenario.engine, "--context", str(CONTEXT_TOKENS),
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            if hasattr(os, "sched_setaffinity"):
                os.sched_setaffinity(process.pid, {min(os.sched_getaffinity(0))})
            yield url, process.pid
        finally:
            process.terminate()
            process.wait(timeout=10)


def _measure(scenario: Scenario, requests: int, url: str, pid: int) -> tuple[BenchReport, float, float]:
    """What the client saw, and the shares of a core that the emulator and the client took."""
    plan = BenchPlan(
        url=url,
        model=scenario.model,
        operation=Operation.COMPLETION,
        rate_requests_per_s=scenario.rate_requests_per_s,
        requests=requests,
        prompt_tokens=Fixed(tokens=scenario.prompt_words),
        output_tokens=Fixed(tokens=scenario.output_tokens),
        ignore_eos=True,
        seed=SEED,
    )
    before, own_before_s, began_s = tree_usage(pid), time.process_time(), time.monotonic()
    report = uvloop.run(run(plan, clock=time.perf_counter))
    after, took_s = tree_usage(pid), time.monotonic() - began_s
    return report, (after.cpu_s - before.cpu_s) / took_s, (time.process_time() - own_before_s) / took_s


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=800, help="in each scenario")
    parser.add_argument("--no-page", action="store_true", help="leave docs/emulator-accuracy.md as it is")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
