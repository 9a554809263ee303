"""The numbers of a launch, each derived from memory or from step times and kept with its reason."""

from collections.abc import Mapping, Sequence
from math import ceil

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec, PlanImpossible
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.engine_memory import ENGINES
from heterodyne.physics.hardware import Accelerator
from heterodyne.physics.memory import Demand, Layout, MemoryBudget, memory_budget
from heterodyne.physics.parallelism import Parallelism
from heterodyne.physics.profile import Basis, Profile
from heterodyne.physics.profile_catalogue import profile_for
from heterodyne.physics.serving import Load, Replica, Served, Slo, serve
from heterodyne.planning.caveats import caveats
from heterodyne.planning.fit import SLOTS_MIN
from heterodyne.planning.launch.engine_choice import choose_engine, choose_kv, choose_width, does_not_fit
from heterodyne.planning.launch.latency_choice import (
    Pace,
    choose_parallelism,
    choose_sequences,
    choose_step_tokens,
    placed,
)
from heterodyne.planning.launch.platform import Platform, host_of, platform_of
from heterodyne.planning.launch.room import Room, most_sequences, room_for
from heterodyne.planning.launch.speculation import Guessing, choose_guessing
from heterodyne.planning.launch.weights import Weights, choose_weights
from heterodyne.planning.launch.wish import LaunchWish
from heterodyne.planning.workload_class import BUDGETS, WorkloadClass

CONTEXT_TOKENS = 8192  # when nobody says
DRAIN_MAX_S = 600
SEQUENCES_MAX = {EngineKind.LLAMACPP: 256}  # compiled into llama.cpp
SEQUENCES_MAX_USUAL = 1024


class Request(Struct, frozen=True, kw_only=True):
    """A usual request of a class."""

    prompt_tokens: int
    output_tokens: int


REQUESTS: Mapping[WorkloadClass, Request] = {
    WorkloadClass.INTERACTIVE: Request(prompt_tokens=1024, output_tokens=256),
    WorkloadClass.BATCH: Request(prompt_tokens=2048, output_tokens=512),
    WorkloadClass.BACKGROUND: Request(prompt_tokens=2048, output_tokens=512),
}


class Reason(Struct, frozen=True, kw_only=True):
    """A setting and why it is what it is."""

    setting: str
    value: str
    because: str


class Sizing(Struct, frozen=True, kw_only=True):
    """Everything an engine's flags are written from."""

    layout: Layout
    platform: Platform
    workload: WorkloadClass
    ranks: int  # what the engine is told as its tensor-parallel size
    is_expert_parallel: bool
    context_tokens: int
    usual_tokens: int
    sequences: int
    step_tokens: int
    memory_fraction: float
    guessing: Guessing | None
    weights: Weights
    budget: MemoryBudget  # of one chip, with all sequences inside
    served: Served  # what the class's usual request gets with all sequences busy
    basis: Basis
    reasons: dict[str, Reason]
    notes: tuple[str, ...]

    @property
    def drain_s(self) -> int:
        """How long a replica that shall stop may take to finish long answers, four times the class's usual."""
        slo, tokens = BUDGETS[self.workload], REQUESTS[self.workload].output_tokens
        return min(DRAIN_MAX_S, ceil(slo.ttft_s + slo.itl_s * tokens * 4))

    def because(self, setting: str) -> str:
        """The reason of a setting."""
        return self.reasons[setting].because


def size(wish: LaunchWish, catalogue: Mapping[str, Accelerator], *, measured: Sequence[Profile] = ()) -> Sizing:
    """Derive a launch, `measured` prices first; raises `InvalidSpec` or `PlanImpossible` with what to change."""
    chip, platform, slo = wish.accelerator, platform_of(wish.accelerator), BUDGETS[wish.workload]
    _check(wish)
    engine, engine_because = choose_engine(chip, wish.engine)
    kv_precision, kv_because = choose_kv(wish, engine)
    weights = choose_weights(wish, engine, platform)
    context = min(CONTEXT_TOKENS, wish.model.context_tokens) if wish.context_tokens is None else wish.context_tokens
    usual = context if wish.usual_tokens is None else min(wish.usual_tokens, context)
    base = Layout(
        model=wish.model,
        accelerator=chip,
        precision=wish.precision,
        kv_precision=kv_precision,
        engine=engine,
        memory_fraction=ENGINES[engine].memory_fraction,
        slots=None if engine is EngineKind.LLAMACPP else wish.sequences or SLOTS_MIN,
    )
    demands = [Demand(context_tokens=context)]
    if wish.sequences is not None:
        demands.append(Demand(context_tokens=usual, concurrency=wish.sequences))
    tp, tp_because = choose_width(wish, base, demands, catalogue)
    layout = msgspec.structs.replace(base, tp=tp)
    ranks = tp * host_of(chip).ranks_per_chip
    if wish.model.heads % ranks:
        raise InvalidSpec(
            f"tp: {tp} x {chip.name} are {ranks} ranks, which cannot share {wish.model.heads} heads evenly"
        )
    room = Room(layout=layout, ranks=ranks, context_tokens=context, usual_tokens=usual, draft=wish.draft)
    held = _held(wish, room, catalogue)
    found = profile_for(wish.model, chip, engine=engine, precision=wish.precision, tp=tp, measured=measured)
    parallelism = choose_parallelism(layout, platform, found.profile, batch=held, context=usual / 2)
    placement = placed(layout, parallelism)
    pace = Pace(placement=placement, profile=found.profile, workload=wish.workload, slo=slo, context=usual / 2)
    load = _usual_load(wish.workload, usual)
    if wish.sequences is None:
        sequences, sequences_because = choose_sequences(
            pace, load, held=held, held_because=_held_because(engine, held), platform=platform
        )
    else:
        sequences, sequences_because = wish.sequences, f"asked for; memory holds {held}"
    guessing, guessing_because = choose_guessing(wish, engine, platform, pace, sequences=sequences)
    step_tokens, step_because = choose_step_tokens(
        pace, sequences=sequences, guessed_tokens=guessing.tokens if guessing else 0
    )
    budget = room_for(room, sequences)
    replica = Replica(placement=placement, profile=found.profile, chunk_tokens=step_tokens)
    served = serve(replica, msgspec.structs.replace(load, concurrency=sequences))
    is_expert_parallel = parallelism.ep > 1
    reasons = _reasons(
        ("engine", engine, engine_because),
        ("tp", tp, tp_because),
        ("experts", is_expert_parallel, _experts_because(layout, parallelism)),
        ("kv_precision", kv_precision, kv_because),
        ("context", context, "asked for" if wish.context_tokens else "long enough for most; --context says otherwise"),
        ("sequences", sequences, sequences_because),
        ("step_tokens", step_tokens, step_because),
        ("memory_fraction", layout.memory_fraction, "the share these numbers were counted with"),
        ("guessing", guessing.kind if guessing else "off", guessing_because),
    )
    return Sizing(
        layout=layout,
        platform=platform,
        workload=wish.workload,
        ranks=ranks,
        is_expert_parallel=is_expert_parallel,
        context_tokens=context,
        usual_tokens=usual,
        sequences=sequences,
        step_tokens=step_tokens,
        memory_fraction=ENGINES[engine].memory_fraction,
        guessing=guessing,
        weights=weights,
        budget=budget,
        served=served,
        basis=found.basis,
        reasons=reasons,
        notes=(
            *weights.notes,
            *caveats(layout, Demand(context_tokens=context)),
            *_missed(served, slo, wish.workload),
            *([f"the draft is not used: {guessing_because}"] if wish.draft and not guessing else []),
        ),
    )


def _check(wish: LaunchWish) -> None:
    chip, model = wish.accelerator, wish.model
    if wish.precision not in chip.precisions:
        raise InvalidSpec(
            f"precision: {chip.name} is not known to run weights in {wish.precision}; it is for "
            f"{', '.join(chip.precisions)}"
        )
    counts = {
        "tp": wish.tp,
        "context": wish.context_tokens,
        "usual-context": wish.usual_tokens,
        "max-concurrency": wish.sequences,
    }
    for name, count in counts.items():
        if count is not None and count < 1:
            raise InvalidSpec(f"{name}: {count} is not a whole number above zero")
    if wish.context_tokens is not None and wish.context_tokens > model.context_tokens:
        raise InvalidSpec(f"context: {model.name} is made for {model.context_tokens} tokens, not {wish.context_tokens}")
    if wish.draft is not None and wish.draft.vocabulary != model.vocabulary:
        raise InvalidSpec(
            f"draft-model: {wish.draft.name} has {wish.draft.vocabulary} words and {model.name} {model.vocabulary}; "
            "a draft speaks the same vocabulary"
        )


def _held(wish: LaunchWish, room: Room, catalogue: Mapping[str, Accelerator]) -> int:
    """How many sequences memory holds; raises when that is none, or fewer than asked for."""
    wanted = wish.sequences or 1
    most = SEQUENCES_MAX.get(room.layout.engine, SEQUENCES_MAX_USUAL)
    if wanted > most:
        raise InvalidSpec(f"max-concurrency: {room.layout.engine} is planned for up to {most} at once, not {wanted}")
    held = most_sequences(room, most)
    if held < wanted:
        tokens = room.usual_tokens if held else room.context_tokens
        slots = None if room.layout.engine is EngineKind.LLAMACPP else max(1, held)
        layout = msgspec.structs.replace(room.layout, slots=slots)
        demand = Demand(context_tokens=tokens, concurrency=wanted)
        if memory_budget(layout, demand).is_fitting:
            extras = "a draft model" if wish.draft else f"whole heads on each of {room.ranks} ranks"
            raise PlanImpossible(
                f"{wish.model.name} on {wish.accelerator.name}: beside {extras} memory holds {held} x {tokens} tokens, "
                f"not {wanted}; ask for fewer or shorter sequences, or for more chips"
            )
        raise does_not_fit(layout, demand, catalogue)
    return held


def _held_because(engine: EngineKind, held: int) -> str:
    is_most = held == SEQUENCES_MAX.get(engine, SEQUENCES_MAX_USUAL)
    return "the most that is planned for" if is_most else "memory holds no more"


def _experts_because(layout: Layout, parallelism: Parallelism) -> str:
    if layout.model.experts is None:
        return "the model has no experts"
    return "a step is faster so" if parallelism.ep > 1 else "a step is faster with every expert cut across the chips"


def _usual_load(workload: WorkloadClass, usual_tokens: int) -> Load:
    """The class's usual request, shortened to what the context holds."""
    request = REQUESTS[workload]
    prompt, output = request.prompt_tokens, request.output_tokens
    if prompt + output > usual_tokens:
        output = max(1, usual_tokens // 5)
        prompt = max(1, usual_tokens - output)
    return Load(concurrency=1, prompt_tokens=prompt, output_tokens=output)


def _reasons(*rows: tuple[str, object, str]) -> dict[str, Reason]:
    return {name: Reason(setting=name, value=str(value), because=because) for name, value, because in rows}


def _missed(served: Served, slo: Slo, workload: WorkloadClass) -> tuple[str, ...]:
    """Budgets the class will not get with every sequence busy."""
    said = []
    if served.itl_s > slo.itl_s:
        said.append(
            f"{served.itl_s * 1000:.0f} ms a token are over the {slo.itl_s * 1000:.0f} ms of {workload}; "
            "take a faster chip, more chips or fewer bits"
        )
    if served.ttft_s > slo.ttft_s:
        said.append(
            f"with every sequence busy a first token takes {served.ttft_s:.2f} s, over {slo.ttft_s:g} s of {workload}"
        )
    return tuple(said)
