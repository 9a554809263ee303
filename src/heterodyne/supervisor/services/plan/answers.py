"""The planner's answers as the console shows them; pure, so that the supervisor and its child may both make them."""

from msgspec import Struct

from heterodyne.console.plan.forms import MemoryForm
from heterodyne.console.plan.pages import (
    CurvePoint,
    HardwareAnswer,
    HardwareChoice,
    HardwareRefusal,
    MemoryAnswer,
    MemoryChange,
    MemoryPart,
    MixAlone,
    MixAnswer,
    MixBucket,
    MixKind,
)
from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.hardware import Accelerator
from heterodyne.physics.memory import Demand, Layout, MemoryBudget
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.profile import Profile
from heterodyne.planning.hardware.caveats import caveats
from heterodyne.planning.hardware.fit import FitChange, fit
from heterodyne.planning.hardware.memory_parts import memory_parts
from heterodyne.planning.hardware.ranking import (
    HardwareRequirements,
    RankedHardware,
    best_per_accelerator,
    rank_hardware,
    reason,
)
from heterodyne.planning.mix.cheapest_mix import cheapest_mix
from heterodyne.planning.mix.problem import ReplicaKind
from heterodyne.planning.mix.requirements import MixRequirements, mix_problem

CONTEXT_TOKENS = 8192  # of a sequence when none are given
MS = 1000.0
WITHIN = 1.001  # points of a curve beyond what is sustained are not shown


class HardwareOrder(Struct, frozen=True, kw_only=True, tag="hardware"):
    """For the child that ranks."""

    wish: HardwareRequirements
    catalogue: dict[str, Accelerator]
    measured: tuple[Profile, ...]
    every_width: bool
    notes: tuple[str, ...]


class MixOrder(Struct, frozen=True, kw_only=True, tag="mix"):
    """For the child that solves."""

    wish: MixRequirements
    notes: tuple[str, ...]


def memory_answer(form: MemoryForm, catalogue: dict[str, Accelerator]) -> MemoryAnswer:
    """Raises `UnknownName` for an unknown model or chip, `InvalidSpec` for a layout that cannot be."""
    spec = model_spec(form.model)
    layout = Layout(
        model=spec,
        accelerator=accelerator(form.hardware, catalogue),
        precision=form.precision or spec.checkpoint_precision,
        kv_precision=form.kv_precision,
        tp=form.tp,
        engine=form.engine,
        memory_fraction=form.memory_fraction,
        slots=form.slots,
    )
    demand = Demand(
        context_tokens=form.context_tokens or min(CONTEXT_TOKENS, spec.context_tokens), concurrency=form.concurrency
    )
    answer = fit(layout, demand, catalogue)
    return MemoryAnswer(
        model=spec.name,
        hardware=layout.accelerator.name,
        tp=layout.tp,
        engine=layout.engine,
        precision=layout.precision,
        kv_precision=layout.kv_precision,
        context_tokens=demand.context_tokens,
        concurrency=demand.concurrency,
        is_fitting=answer.is_fitting,
        memory_bytes=answer.budget.memory_bytes,
        parts=_parts(answer.budget),
        concurrency_max=answer.budget.concurrency_max,
        context_max_tokens=answer.budget.context_max_tokens,
        changes=tuple(map(_change, answer.changes)),
        caveats=caveats(layout, demand),
    )


def hardware_answer(order: HardwareOrder) -> HardwareAnswer:
    """Rank them."""
    wish = order.wish
    ranking = rank_hardware(wish, order.catalogue, measured=order.measured)
    choices = ranking.choices if order.every_width else tuple(best_per_accelerator(ranking.choices))
    return HardwareAnswer(
        model=wish.model.name,
        precision=wish.precision,
        prompt_tokens=wish.prompt_tokens,
        output_tokens=wish.output_tokens,
        requests_per_s=wish.requests_per_s,
        slo_ttft_ms=wish.slo.ttft_s * MS,
        slo_itl_ms=wish.slo.itl_s * MS,
        choices=tuple(map(_choice, choices)),
        refused=tuple(
            HardwareRefusal(hardware=one.accelerator, tp=one.tp, reason=one.reason) for one in ranking.refused
        ),
        notes=order.notes,
    )


def mix_answer(order: MixOrder) -> MixAnswer:
    """Solve it; raises `PlanImpossible` with what stands in the way."""
    wish = order.wish
    problem = mix_problem(wish)
    plan = cheapest_mix(problem)
    kinds = {kind.name: kind for kind in problem.kinds}
    alone = sorted(plan.single_kind_usd_per_hour.items(), key=lambda one: one[1])
    return MixAnswer(
        model=wish.model.name,
        precision=wish.precision,
        requests_per_s=wish.requests_per_s,
        slo_ttft_ms=wish.slo.ttft_s * MS,
        slo_itl_ms=wish.slo.itl_s * MS,
        usd_per_hour=plan.usd_per_hour,
        gap=plan.gap,
        kinds=tuple(_kind(kinds[name], count, plan.utilisation[name]) for name, count in plan.replicas.items()),
        buckets=tuple(
            MixBucket(
                name=one.name,
                requests_per_s=one.requests_per_s,
                is_critical=one.is_critical,
                shares=plan.shares.get(one.name, {}),
            )
            for one in problem.buckets
        ),
        alone=tuple(MixAlone(name=name, usd_per_hour=usd) for name, usd in alone),
        notes=order.notes,
    )


def _parts(budget: MemoryBudget) -> tuple[MemoryPart, ...]:
    return tuple(MemoryPart(name=name, bytes=size) for name, size in memory_parts(budget).items())


def _change(change: FitChange) -> MemoryChange:
    return MemoryChange(
        kind=change.kind,
        sentence=change.sentence,
        hardware=change.layout.accelerator.name,
        tp=change.layout.tp,
        precision=change.layout.precision,
        kv_precision=change.layout.kv_precision,
        context_tokens=change.demand.context_tokens,
        concurrency=change.demand.concurrency,
        parts=_parts(change.budget),
    )


def _choice(choice: RankedHardware) -> HardwareChoice:
    load = choice.load
    return HardwareChoice(
        hardware=choice.accelerator,
        tp=choice.tp,
        engine=choice.engine,
        replicas=choice.replicas,
        concurrency=round(load.concurrency),
        requests_per_s=load.requests_per_s,
        utilisation=load.utilisation,
        ttft_ms=load.ttft.p99_s * MS,
        ttft_p50_ms=load.ttft.p50_s * MS,
        itl_ms=load.itl.p99_s * MS,
        itl_p50_ms=load.itl.p50_s * MS,
        usd_per_hour=choice.usd_per_hour,
        usd_per_million_tokens=choice.usd_per_million_tokens,
        power_w=choice.power_w,
        binding=load.limit,
        rests_on=choice.basis,
        reason=reason(choice),
        curve=tuple(
            CurvePoint(
                concurrency=max(1, round(one.concurrency)),
                ttft_ms=one.ttft_p99_s * MS,
                itl_ms=one.itl_p99_s * MS,
                usd_per_million_tokens=one.usd_per_million_tokens,
            )
            for one in choice.curve
            if one.requests_per_s <= load.requests_per_s * WITHIN
        ),
    )


def _kind(kind: ReplicaKind, count: int, utilisation: float) -> MixKind:
    return MixKind(
        name=kind.name,
        hardware=kind.name.partition(" x")[0],
        tp=kind.chips,
        is_spot=kind.is_spot,
        replicas=count,
        usd_per_hour=kind.usd_per_hour * count,
        utilisation=utilisation,
        rests_on=kind.rests_on or "",
    )
