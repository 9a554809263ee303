"""Which hardware suits a model, and why: a stack that runs there, memory for weights and KV, a link for experts.

Nothing is listed by name: every answer follows from the model's shape, what it has been built for, and the chips.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from math import inf

from msgspec import Struct, structs

from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.hardware import Accelerator
from heterodyne.physics.memory import Demand, Layout, MemoryBudget, memory_budget
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.parallelism import Parallelism
from heterodyne.physics.placement import place
from heterodyne.physics.precision import Precision
from heterodyne.physics.work import work
from heterodyne.planning.hardware_choice import lowest_price
from heterodyne.planning.launch.platform import Platform, host_of, platform_of

EXCHANGE_SHARE_MAX = 0.1  # of a prompt's computation: beyond it the experts' chips wait for each other
GIB = 2**30


class Build(Struct, frozen=True, kw_only=True):
    """Weights as they exist for one target. None: for any engine, or any platform, that reads the format."""

    precision: Precision
    engine: EngineKind | None = None
    platform: Platform | None = None


class Obstacle(StrEnum):
    """Why hardware does not suit a model."""

    STACK = "stack"  # nothing that runs there runs any build of the model
    PRECISION = "precision"
    MEMORY = "memory"


class Suited(Struct, frozen=True, kw_only=True):
    """One kind of chip that the model runs well on."""

    accelerator: str
    tp: int
    engine: EngineKind  # whose memory was counted
    precision: Precision
    kv_tokens: float  # that one replica holds beside the weights
    is_link_fast: bool = True  # False: the chips of its experts would wait for each other
    usd_per_hour: float | None  # of one replica; None: nobody says
    reason: str


class Unsuited(Struct, frozen=True, kw_only=True):
    """One that it does not, and what is in the way."""

    accelerator: str
    obstacle: Obstacle
    reason: str


class Affinity(Struct, frozen=True, kw_only=True):
    """What suits a model: where no link is too slow first, and of those the cheapest replica."""

    suited: tuple[Suited, ...]
    unsuited: tuple[Unsuited, ...]


def affinity(
    model: ModelSpec,
    builds: Iterable[Build],
    chips: Iterable[Accelerator],
    *,
    demand: Demand,
) -> Affinity:
    """Judge each kind of chip by the best of the model's builds for it: one host of it has to hold the demand."""
    offered = tuple(builds)
    judged = [_judge(model, offered, chip, demand) for chip in chips]
    suited = sorted((one for one in judged if isinstance(one, Suited)), key=_order)
    return Affinity(suited=tuple(suited), unsuited=tuple(one for one in judged if isinstance(one, Unsuited)))


def _order(suited: Suited) -> tuple[bool, float]:
    return not suited.is_link_fast, inf if suited.usd_per_hour is None else suited.usd_per_hour


def _judge(model: ModelSpec, builds: tuple[Build, ...], chip: Accelerator, demand: Demand) -> Suited | Unsuited:
    """The first build that suits, else the obstacle that came last on the way."""
    runnable = [(build, engine) for build in builds if (engine := _try_engine(build, chip)) is not None]
    if not runnable:
        only = ", ".join(dict.fromkeys(_stack(build) for build in builds))
        reason = f"exists for {only}; {chip.name} runs {', '.join(chip.engines)} on {platform_of(chip)}"
        return Unsuited(accelerator=chip.name, obstacle=Obstacle.STACK, reason=reason)
    found: Suited | Unsuited | None = None
    for build, engine in runnable:
        found = _lay_out(model, build, engine, chip, demand)
        if isinstance(found, Suited):
            return found
    assert found is not None
    return found


def _try_engine(build: Build, chip: Accelerator) -> EngineKind | None:
    """The engine the build runs under there, as far as we can count its memory."""
    if build.platform not in (None, platform_of(chip)):
        return None
    able = [kind for kind in EngineKind if kind in chip.engines and build.engine in (None, kind)]
    return able[0] if able else None


def _stack(build: Build) -> str:
    return build.engine or build.platform or f"any engine that reads {build.precision}"


def _lay_out(
    model: ModelSpec, build: Build, engine: EngineKind, chip: Accelerator, demand: Demand
) -> Suited | Unsuited:
    if build.precision not in chip.precisions:
        reason = f"{chip.name} keeps weights in {', '.join(chip.precisions)}, not {build.precision}"
        return Unsuited(accelerator=chip.name, obstacle=Obstacle.PRECISION, reason=reason)
    base = Layout(model=model, accelerator=chip, precision=build.precision, engine=engine)
    tried = [(layout, memory_budget(layout, demand)) for layout in _layouts(base)]
    fitting = [(layout, budget) for layout, budget in tried if budget.is_fitting]
    if not fitting:
        return _too_large(base, tried)
    layout, budget = fitting[0]
    if model.experts is None or layout.tp == 1:
        return _suited(layout, budget, demand)
    # Whole experts on chips of their own, as far as there are chips: cut ones are small matrices, slow to read.
    spread = [one for one in fitting if one[0].tp <= model.experts.count]
    layout, budget = (spread or fitting)[-1]
    return _suited(layout, budget, demand, exchange_share=_exchange_share(layout))


def _layouts(base: Layout) -> Iterator[Layout]:
    """The widths of one host inside the fast link that share the heads evenly, the fewest chips first."""
    chip = base.accelerator
    for tp in host_of(chip).widths:
        if tp <= chip.fast_domain_chips and base.model.heads % tp == 0:
            yield structs.replace(base, tp=tp)


def _exchange_share(layout: Layout) -> float:
    """Of the time to compute a prompt, that of its tokens' ways to their experts and back.

    Tokens crowd to the experts in fashion, so what counts is the link between two chips, not all its lanes together.
    """
    chip = layout.accelerator
    pair = structs.replace(chip.link, bytes_per_s=chip.link.pair_bytes_per_s)
    placement = place(
        work(layout.model, precision=layout.precision, kv_precision=layout.kv_precision),
        accelerator=structs.replace(chip, link=pair),
        parallelism=Parallelism(tp=layout.tp, ep=layout.tp),
    )
    return placement.exchange_s_per_token / placement.prompt_flops_s


def _suited(layout: Layout, budget: MemoryBudget, demand: Demand, *, exchange_share: float = 0.0) -> Suited:
    chip, tp = layout.accelerator, layout.tp
    kv_tokens = budget.kv_room_bytes / budget.kv_sequence_bytes * demand.context_tokens
    price = lowest_price(chip)
    return Suited(
        accelerator=chip.name,
        tp=tp,
        engine=layout.engine,
        precision=layout.precision,
        kv_tokens=kv_tokens,
        is_link_fast=exchange_share <= EXCHANGE_SHARE_MAX,
        usd_per_hour=None if price is None else price.usd_per_hour * tp,
        reason=f"{_chips(layout)} hold the weights in {layout.precision} and {kv_tokens:,.0f} tokens of KV"
        f"{_exchange(chip, exchange_share)}",
    )


def _exchange(chip: Accelerator, share: float) -> str:
    if not share:
        return ""
    pair = f"{chip.link.name} moves {chip.link.pair_bytes_per_s / 1e9:.0f} GB/s between two chips"
    return f"; {pair}, {share:.0%} of the time of a prompt for its experts"


def _too_large(base: Layout, tried: list[tuple[Layout, MemoryBudget]]) -> Unsuited:
    if tried:
        layout, budget = tried[-1]
        lacking = f"{-budget.free_bytes / GIB:.1f} GiB a chip are lacking on {_chips(layout)}"
    else:
        lacking = f"no width of a host shares its {base.model.heads} heads evenly"
    return Unsuited(accelerator=base.accelerator.name, obstacle=Obstacle.MEMORY, reason=lacking)


def _chips(layout: Layout) -> str:
    return f"{layout.tp} x {layout.accelerator.name}"
