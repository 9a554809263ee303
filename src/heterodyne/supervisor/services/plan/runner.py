"""Puts the console's questions to the planner: what is quick in a thread, what is not in a child with a deadline."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from msgspec import Struct

from heterodyne.config.settings import Settings
from heterodyne.console.errors import CannotPlan
from heterodyne.console.plan.forms import HardwareForm, MemoryForm, MixForm, Traffic
from heterodyne.console.plan.pages import (
    ClassOption,
    HardwareAnswer,
    HardwareOption,
    MemoryAnswer,
    MixAnswer,
    ModelOption,
    PlanOptions,
    PoolOption,
)
from heterodyne.domain.errors import InvalidSpec, PlanImpossible, UnknownName
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.model_shapes import model_spec, model_specs
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Slo
from heterodyne.planning.hardware.ranking import HardwareRequirements, lowest_price
from heterodyne.planning.mix.inputs import PEAK, offered, rate_of, within_context
from heterodyne.planning.mix.problem import Stock
from heterodyne.planning.mix.requirements import MixRequirements
from heterodyne.planning.traffic.histogram import Cell, histogram
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.planning.workload_class import BUDGETS, budget
from heterodyne.ports.books import BookStore
from heterodyne.routing.catalogue import OBJECTIVES
from heterodyne.routing.peers.catalogue import PEERS
from heterodyne.supervisor.physics_facts import PhysicsFacts, physics_facts
from heterodyne.supervisor.services.bulkhead import Bulkhead
from heterodyne.supervisor.services.child_call import call_child
from heterodyne.supervisor.services.plan.answers import HardwareOrder, MixOrder, memory_answer
from heterodyne.supervisor.services.recorded_arrivals import recorded_arrivals

AT_ONCE = 2
DEADLINE_S = 20.0
REQUESTS_MIN = 2  # to have a rate


class PlanRunner:
    """One per supervisor; belongs to one event loop."""

    def __init__(
        self, books: BookStore, settings: Callable[[], Settings], *, child: str, deadline_s: float = DEADLINE_S
    ) -> None:
        self._books = books
        self._settings = settings
        self._child = child  # the module of the process that works plans out
        self._deadline_s = deadline_s
        self._bulkhead = Bulkhead(AT_ONCE, "plans")

    async def options(self) -> PlanOptions:
        """Everything that the forms take by name."""
        settings = self._settings()
        facts = await self._facts()
        return PlanOptions(
            models=tuple(map(_model, model_specs().values())),
            hardware=tuple(_hardware(facts)),
            engines=tuple(EngineKind),
            precisions=tuple(Precision),
            classes=tuple(
                ClassOption(name=name, slo_ttft_ms=one.ttft_s * 1000, slo_itl_ms=one.itl_s * 1000)
                for name, one in BUDGETS.items()
            ),
            policies=(*OBJECTIVES, *PEERS),
            pools=tuple(_pools(settings)),
        )

    async def memory(self, form: MemoryForm) -> MemoryAnswer:
        """A moment's work."""
        with self._bulkhead.slot(), _planning_errors():
            facts = await self._facts()
            return await asyncio.to_thread(memory_answer, form, dict(facts.catalogue))

    async def hardware(self, form: HardwareForm) -> HardwareAnswer:
        """Every chip at every width."""
        with self._bulkhead.slot(), _planning_errors():
            spec, facts = model_spec(form.model), await self._facts()
            log = await self._log(form.traffic, spec)
            wish = HardwareRequirements(
                model=spec,
                precision=form.precision or spec.checkpoint_precision,
                kv_precision=form.kv_precision,
                prompt_tokens=log.prompt_tokens,
                output_tokens=log.output_tokens,
                requests_per_s=log.requests_per_s,
                slo=_slo(form),
            )
            order = HardwareOrder(
                wish=wish,
                catalogue=dict(facts.catalogue),
                measured=facts.measured,
                every_width=form.every_width,
                notes=log.notes,
            )
            return await call_child(self._child, order, HardwareAnswer, deadline_s=self._deadline_s)

    async def mix(self, form: MixForm) -> MixAnswer:
        """Recorded requests become buckets by their lengths; else there is one."""
        with self._bulkhead.slot(), _planning_errors():
            spec, facts = model_spec(form.model), await self._facts()
            log = await self._log(form.traffic, spec)
            chips = offered(form.hardware or None, facts.catalogue)
            wish = MixRequirements(
                model=spec,
                precision=form.precision or spec.checkpoint_precision,
                kv_precision=form.kv_precision,
                cells=_cells(log, form.buckets),
                requests_per_s=log.requests_per_s,
                slo=_slo(form),
                accelerators=tuple(chips.values()),
                stocks=_stocks(form.available, chips),
                headroom=form.headroom,
                spot_share_max=form.spot_share_max,
                survives_one_loss=form.survives_one_loss,
                critical_share=form.critical_share,
                measured=facts.measured,
            )
            return await call_child(
                self._child, MixOrder(wish=wish, notes=log.notes), MixAnswer, deadline_s=self._deadline_s
            )

    async def _facts(self) -> PhysicsFacts:
        return await asyncio.to_thread(physics_facts, self._settings().physics)

    async def _log(self, traffic: Traffic, spec: ModelSpec) -> "_Log":
        if traffic.recorded_model is None:
            return _Log(
                arrivals=(),
                prompt_tokens=traffic.prompt_tokens,
                output_tokens=traffic.output_tokens,
                requests_per_s=traffic.requests_per_s or 1.0,
                notes=(),
            )
        recorded = await recorded_arrivals(self._books, traffic.recorded_model, traffic.recorded_requests)
        fitting = within_context(recorded.arrivals, spec)
        arrivals = fitting.arrivals
        if len(arrivals) < REQUESTS_MIN:
            raise CannotPlan(
                f'Of "{traffic.recorded_model[:100]}" {len(arrivals)} requests with lengths that {spec.name} can hold '
                f"are recorded; {REQUESTS_MIN} are needed. Give lengths and a rate instead."
            )
        return _Log(
            arrivals=arrivals,
            prompt_tokens=max(1, round(sum(one.prompt_tokens for one in arrivals) / len(arrivals))),
            output_tokens=max(1, round(sum(one.output_tokens for one in arrivals) / len(arrivals))),
            requests_per_s=traffic.requests_per_s or rate_of(PEAK, arrivals),
            notes=tuple(_notes(len(arrivals), recorded.without_lengths, fitting.too_long, spec)),
        )


class _Log(Struct, frozen=True, kw_only=True):
    """Traffic to plan for; without arrivals all requests are alike."""

    arrivals: tuple[TraceRequest, ...]
    prompt_tokens: int
    output_tokens: int
    requests_per_s: float
    notes: tuple[str, ...]


@contextmanager
def _planning_errors() -> Iterator[None]:
    """Over HTTP an impossible plan is for the caller to act on, not for us."""
    try:
        yield
    except (InvalidSpec, PlanImpossible) as error:
        raise CannotPlan(error.message) from error


def _slo(form: HardwareForm | MixForm) -> Slo:
    return budget(
        form.workload_class,
        ttft_s=None if form.slo_ttft_ms is None else form.slo_ttft_ms / 1000,
        itl_s=None if form.slo_itl_ms is None else form.slo_itl_ms / 1000,
    )


def _cells(log: _Log, buckets: int) -> tuple[Cell, ...]:
    arrivals = log.arrivals or (
        TraceRequest(at_s=0.0, prompt_tokens=log.prompt_tokens, output_tokens=log.output_tokens),
    )
    return tuple(histogram(arrivals, bins=buckets))


def _stocks(available: Mapping[str, int], chips: Mapping[str, object]) -> tuple[Stock, ...]:
    for name in available:
        if name not in chips:
            raise CannotPlan(f'available: "{name[:100]}" is not among the hardware to choose from.')
    return tuple(Stock(name=name, available=count) for name, count in available.items())


def _notes(used: int, without_lengths: int, too_long: int, spec: ModelSpec) -> Iterator[str]:
    yield f"{used} recorded requests"
    if without_lengths:
        yield f"left out: {without_lengths} that were refused or have no answer"
    if too_long:
        yield f"left out: {too_long} longer than the context of {spec.name}, {spec.context_tokens} tokens"


def _model(spec: ModelSpec) -> ModelOption:
    return ModelOption(name=spec.name, context_tokens=spec.context_tokens, precision=spec.checkpoint_precision)


def _hardware(facts: PhysicsFacts) -> Iterator[HardwareOption]:
    for chip in facts.catalogue.values():
        price = lowest_price(chip)
        yield HardwareOption(
            name=chip.name,
            vendor=chip.vendor,
            memory_bytes=chip.memory_bytes,
            usd_per_hour=None if price is None else price.usd_per_hour,
            fast_domain_chips=chip.fast_domain_chips,
            engines=chip.engines,
            precisions=chip.precisions,
        )


def _pools(settings: Settings) -> Iterator[PoolOption]:
    for name, pool in settings.pools.items():
        model_settings = settings.models.get(pool.model)
        yield PoolOption(
            pool=name,
            model=pool.model,
            shape=_try_shape(pool.shape or pool.model),
            hardware=pool.hardware,
            tp=pool.tp,
            precision=pool.precision,
            slo_ttft_ms=None if model_settings is None else model_settings.slo_ttft_ms,
            slo_itl_ms=None if model_settings is None else model_settings.slo_itl_ms,
        )


def _try_shape(name: str) -> str | None:
    try:
        return model_spec(name).name
    except UnknownName:
        return None
