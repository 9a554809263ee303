"""Asks for a mix and holds it against the simulator, telling on stderr what is going on."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click
import msgspec
from msgspec import Struct

from heterodyne.cli.plan.fleet_files import engine_model
from heterodyne.cli.plan.mix_options import MixOptions, MixQuestion, mix_question_from
from heterodyne.cli.progress import working
from heterodyne.planning.mix.cheapest_mix import cheapest_mix
from heterodyne.planning.mix.interruptions import rented
from heterodyne.planning.mix.problem import MixPlan, MixProblem
from heterodyne.planning.mix.requirements import mix_problem
from heterodyne.planning.mix.step_ranges import StepRange, step_ranges

if TYPE_CHECKING:
    from heterodyne.simulator.fleet_file import FleetFile
    from heterodyne.simulator.rehearsed_mix import RehearsedMix
    from heterodyne.simulator.report import SimulationReport


class PlannedMix(Struct, frozen=True, kw_only=True):
    """What was asked and what came of it."""

    problem: MixProblem
    plan: MixPlan
    share: float | None = None  # that was promised; None: the file says nothing of it
    fleet: "FleetFile | None" = None  # None: it was not simulated
    seen: "SimulationReport | None" = None
    beyond: "SimulationReport | None" = None  # with the headroom used up
    beside: "RehearsedMix | None" = None  # the same with prompts and answers apart, or together
    is_kept: bool = True
    steps: Mapping[str, StepRange] = {}  # of the kinds that are used and modelled

    def as_json(self) -> dict[str, object]:
        """The plan, and what the simulation of it saw."""
        said: dict[str, object] = msgspec.structs.asdict(self.plan)
        said["rented"] = {
            kind.name: rented(kind, self.plan.replicas[kind.name])
            for kind in self.problem.kinds
            if kind.name in self.plan.replicas
        }
        if self.seen is not None:
            said["simulated"] = {
                "promised_share": self.share,
                "is_kept": self.is_kept,
                "report": self.seen,
                "headroom_used_up": self.beyond,
            }
        if self.beside is not None:
            said["beside"] = {"replicas": self.beside.plan.replicas, "usd_per_hour": self.beside.plan.usd_per_hour}
        if self.steps:
            said["steps"] = self.steps
        return said


def asked(options: dict[str, object], *, as_json: bool) -> tuple[MixQuestion, MixProblem]:
    """Of a model and a request log."""
    question = mix_question_from(msgspec.convert(options, MixOptions))
    requirements = question.requirements
    with working("asking what each kind would serve", is_json=as_json):
        problem = mix_problem(requirements)
    slo = requirements.slo
    served = sum(bucket.requests_per_s for bucket in problem.buckets)
    buckets = "bucket" if len(problem.buckets) == 1 else "buckets"
    click.echo(
        f"{requirements.requests_per_s:,.2f} requests/s in {len(problem.buckets)} {buckets}, "
        f"{len(problem.kinds)} kinds; {requirements.share:.4g} of requests within "
        f"{slo.ttft_s * 1000:g} ms to the first token and {slo.itl_s * 1000:g} ms a token",
        err=True,
    )
    if served < requirements.requests_per_s * 0.9999:
        lost = 1 - served / requirements.requests_per_s
        click.echo(f"{lost:.2%} of requests are too long for every kind to be in time, and count as late", err=True)
    return question, problem


def solved(problem: MixProblem, *, as_json: bool) -> PlannedMix:
    """By the rates of the problem alone."""
    with working("looking for the cheapest mix", is_json=as_json):
        return PlannedMix(problem=problem, plan=cheapest_mix(problem))


def answered(question: MixQuestion, problem: MixProblem, word: str, *, as_json: bool) -> PlannedMix:
    """The cheapest that keeps the promise when it is simulated."""
    requirements = question.requirements
    from heterodyne.simulator.promise import Promise
    from heterodyne.simulator.rehearsals import Deployment
    from heterodyne.simulator.rehearsed_mix import rehearsed_mix

    promise = Promise(
        ttft_ms=requirements.slo.ttft_s * 1000,
        itl_ms=requirements.slo.itl_s * 1000,
        share=requirements.share,
        requests_per_s=requirements.requests_per_s,
    )
    deployment = Deployment(
        model=requirements.model,
        name=requirements.model.name,
        engine_model=engine_model(word),
        precision=requirements.precision,
        kv_precision=requirements.kv_precision,
        speculation=requirements.speculation,
        promise=promise,
        kv_link=requirements.kv_link,
        catalogue=question.catalogue,
        measured=requirements.measured,
    )
    with working("simulating the cheapest mixes", is_json=as_json):
        found = rehearsed_mix(problem, deployment, question.log)
    return PlannedMix(
        problem=problem,
        plan=found.plan,
        share=requirements.share,
        fleet=found.fleet,
        seen=found.seen,
        beyond=found.beyond,
        beside=found.beside,
        is_kept=found.is_kept,
        steps=_steps(question, problem, found.plan),
    )


def _steps(question: MixQuestion, problem: MixProblem, plan: MixPlan) -> dict[str, StepRange]:
    return step_ranges(question.requirements, (kind for kind in problem.kinds if kind.name in plan.replicas))
