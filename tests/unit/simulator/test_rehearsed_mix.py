"""Mixes held against the simulator."""

from random import Random

from msgspec import structs

from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.physics.catalogue import accelerator, accelerators
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Slo
from heterodyne.planning.mix.problem import MixProblem
from heterodyne.planning.mix.requirements import MixRequirements, mix_problem
from heterodyne.planning.traffic.histogram import histogram
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.simulator.promise import Promise
from heterodyne.simulator.rehearsals import Deployment
from heterodyne.simulator.rehearsed_mix import RehearsedMix, rehearsed_mix

RATE = 40.0
SLO = Slo(ttft_s=1.0, itl_s=0.05)


def log() -> list[TraceRequest]:
    chance, at_s, made = Random(3), 0.0, []
    for _ in range(600):
        at_s += chance.expovariate(1.0)
        made.append(
            TraceRequest(
                at_s=at_s,
                prompt_tokens=round(400 * chance.lognormvariate(0.0, 0.8)),
                output_tokens=max(4, round(80 * chance.lognormvariate(0.0, 0.6))),
            )
        )
    return made


def question(
    slo: Slo = SLO, chips: tuple[str, ...] = ("l4", "l40s", "h100-sxm"), *, has_roles: bool = False
) -> tuple[MixProblem, Deployment]:
    spec = model_spec("llama-3.1-8b")
    requirements = MixRequirements(
        model=spec,
        precision=Precision.FP8,
        cells=tuple(histogram(log(), bins=2)),
        requests_per_s=RATE,
        slo=slo,
        accelerators=tuple(map(accelerator, chips)),
        has_roles=has_roles,
    )
    deployment = Deployment(
        model=spec,
        name=spec.name,
        precision=Precision.FP8,
        kv_precision=Precision.BF16,
        promise=Promise(ttft_ms=slo.ttft_s * 1000, itl_ms=slo.itl_s * 1000, requests_per_s=RATE),
        catalogue=accelerators(),
    )
    return mix_problem(requirements), deployment


def answer(problem: MixProblem, deployment: Deployment) -> RehearsedMix:
    return rehearsed_mix(problem, deployment, log())


def test_the_fleet_keeps_the_promise_and_every_bucket_is_served() -> None:
    problem, deployment = question()
    found = answer(problem, deployment)
    assert found.is_kept
    assert found.seen.attainment >= 0.99
    assert sum(pool.replicas for pool in found.fleet.pools.values()) == sum(found.plan.replicas.values())
    assert all(abs(sum(shares.values()) - 1.0) < 1e-6 for shares in found.plan.shares.values())
    assert found.fleet.promise == deployment.promise


def test_rates_that_promise_too_much_are_found_out() -> None:
    problem, deployment = question()
    boastful = structs.replace(
        problem,
        kinds=tuple(
            structs.replace(kind, requests_per_s={name: rate * 3 for name, rate in kind.requests_per_s.items()})
            for kind in problem.kinds
        ),
    )
    found = answer(boastful, deployment)
    assert found.is_kept
    assert found.simulations > 1


def test_a_promise_that_a_fleet_cannot_keep_in_practice_is_said_to_be_broken() -> None:
    problem, deployment = question()
    impossible = structs.replace(deployment, promise=structs.replace(deployment.promise, ttft_ms=1.0))
    found = answer(problem, impossible)
    assert not found.is_kept
    assert found.seen.attainment < 0.5


def test_a_kind_that_does_more_than_its_rates_say_is_found_out() -> None:
    problem, deployment = question()
    modest = structs.replace(
        problem,
        kinds=tuple(
            structs.replace(kind, requests_per_s={name: rate / 1.3 for name, rate in kind.requests_per_s.items()})
            if kind.hardware == "h100-sxm"
            else kind
            for kind in problem.kinds
        ),
    )
    found, known = answer(modest, deployment), answer(problem, deployment)
    assert found.is_kept
    assert found.plan.usd_per_hour <= known.plan.usd_per_hour


def test_with_the_headroom_used_up_at_most_twice_as_many_are_late() -> None:
    problem, deployment = question()
    found = answer(problem, deployment)
    assert found.seen.requests_per_s < found.beyond.requests_per_s
    assert found.beyond.attainment >= 0.98


def test_without_headroom_a_fleet_is_simulated_once() -> None:
    problem, deployment = question()
    found = answer(structs.replace(problem, headroom=0.0), deployment)
    assert found.is_kept
    assert found.seen == found.beyond


def with_roles(slo: Slo) -> RehearsedMix:
    problem, deployment = question(slo, ("h100-sxm",), has_roles=True)
    return answer(problem, deployment)


def test_roles_are_simulated_and_taken_where_the_fleet_costs_less() -> None:
    found = with_roles(Slo(ttft_s=1.0, itl_s=0.006))
    roles = {pool.role for pool in found.fleet.pools.values()}
    assert found.beside is not None
    assert found.is_kept
    assert found.plan.usd_per_hour <= found.beside.plan.usd_per_hour or not found.beside.is_kept
    other = {pool.role for pool in found.beside.fleet.pools.values()}
    assert {ReplicaRole.BOTH} in (roles, other)


def test_without_roles_there_is_nothing_beside() -> None:
    problem, deployment = question()
    assert answer(problem, deployment).beside is None
