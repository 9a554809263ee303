"""A model on so many chips of one kind: whether requests of a length fit, and what a replica does within a budget."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.hardware import Accelerator
from heterodyne.physics.memory import Demand, Layout, memory_budget, ready_slots
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.parallelism import Parallelism
from heterodyne.physics.placement import Placement, place
from heterodyne.physics.precision import Precision
from heterodyne.physics.profile import Basis, Profile, ProfileMatch
from heterodyne.physics.profile_catalogue import profile_for
from heterodyne.physics.replica.from_layout import scheduling_of
from heterodyne.physics.replica.job import Scheduling
from heterodyne.physics.replica.step_clock import StepClock
from heterodyne.physics.serving import ReplicaSpec, Slo
from heterodyne.physics.step_time import Speculation
from heterodyne.physics.work import work
from heterodyne.planning.hardware.caution import slowdown_of
from heterodyne.planning.hardware.sustained import SHARE, Limit, Shortfall, SustainedLoad, sustained_load
from heterodyne.planning.platform import joined_widths
from heterodyne.planning.traffic.request_shape import RequestShape


class HardwareCandidate(Struct, frozen=True, kw_only=True):
    """One accelerator at one width, with the model laid out on it."""

    accelerator: Accelerator
    tp: int
    engine: EngineKind
    layout: Layout
    placement: Placement
    found: ProfileMatch  # the prices of its steps, and what they rest on
    slowdown: float  # times what its profile says, every step
    clock: StepClock


class RejectedCandidate(Struct, frozen=True, kw_only=True):
    """One that cannot, and why."""

    accelerator: str
    tp: int
    reason: str
    shortfall: Shortfall | None = None  # of one that fits, by how much it misses the promise


def candidates(
    model: ModelSpec,
    chips: Iterable[Accelerator],
    *,
    precision: Precision,
    kv_precision: Precision,
    measured: Sequence[Profile] = (),
    speculation: Speculation | None = None,
    quantile: float | None = None,
) -> Iterator[HardwareCandidate | RejectedCandidate]:
    """Every chip at every width that is sold and joined, and that shares the model's heads evenly.

    `measured` are the operator's own profiles; a chip he measured runs the engine he measured it under. Steps take
    the stated `quantile` of what was measured beside such predictions; None: what is predicted.
    """
    demands = work(model, precision=precision, kv_precision=kv_precision)
    for chip in chips:
        for tp in joined_widths(chip):
            if model.heads % tp:
                continue
            profiles = {
                kind: profile_for(model, chip, engine=kind, precision=precision, tp=tp, measured=measured)
                for kind in EngineKind
                if kind.value in chip.engines
            }
            engine = _engine(profiles)
            if engine is None:
                reason = "none of the engines we can speak about runs on it"
                yield RejectedCandidate(accelerator=chip.name, tp=tp, reason=reason)
                continue
            placement = place(demands, accelerator=chip, parallelism=Parallelism(tp=tp))
            found = profiles[engine]
            slowdown = slowdown_of(found, has_experts=model.experts is not None, quantile=quantile)
            yield HardwareCandidate(
                accelerator=chip,
                tp=tp,
                engine=engine,
                layout=Layout(
                    model=model,
                    accelerator=chip,
                    precision=precision,
                    kv_precision=kv_precision,
                    tp=tp,
                    engine=engine,
                ),
                placement=placement,
                found=found,
                slowdown=slowdown,
                clock=StepClock(placement, found.profile, speculation=speculation, slowdown=slowdown),
            )


def try_replica(candidate: HardwareCandidate, shape: RequestShape) -> ReplicaSpec | None:
    """The replica that serves requests of this shape; None when not even one fits."""
    context = round(shape.prompt_tokens + shape.output_tokens)
    room = memory_budget(candidate.layout, Demand(context_tokens=context))
    if room.concurrency_max < 1:
        return None
    return ReplicaSpec(
        placement=candidate.placement,
        profile=candidate.found.profile,
        # The engine makes ready for so many sequences and no more, whatever the memory would hold.
        kv_capacity_tokens=min(
            room.kv_room_bytes / room.kv_sequence_bytes * context,
            ready_slots(candidate.layout) * (shape.prompt_tokens + shape.output_tokens / 2),
        ),
    )


def try_scheduling(candidate: HardwareCandidate, shape: RequestShape) -> Scheduling | None:
    """How its engine fills steps with requests of this shape; None when not even one fits."""
    context = round(shape.prompt_tokens + shape.output_tokens)
    if memory_budget(candidate.layout, Demand(context_tokens=context)).concurrency_max < 1:
        return None
    return scheduling_of(candidate.layout, context_tokens=context)


def load_of(
    candidate: HardwareCandidate, shape: RequestShape, slo: Slo, *, share: float = SHARE
) -> SustainedLoad | Shortfall:
    """What one replica carries within the promise, or by how much it misses it."""
    scheduling = try_scheduling(candidate, shape)
    if scheduling is None:
        return Shortfall(limit=Limit.PLACES)
    return sustained_load(candidate.clock, scheduling, shape, slo, share=share)


def _engine(profiles: Mapping[EngineKind, ProfileMatch]) -> EngineKind | None:
    """Of the engines that run on the chip, one the operator measured, else the first we know the memory of."""
    own = [kind for kind, found in profiles.items() if found.basis is Basis.OWN]
    return next(iter(own or profiles), None)
