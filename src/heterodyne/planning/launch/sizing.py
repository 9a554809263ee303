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
from heterodyne.physics.serving import Load, ReplicaSpec, ServingEstimate, Slo, serve
from heterodyne.planning.hardware.caveats import caveats
from heterodyne.planning.hardware.fit import SLOTS_MIN
from heterodyne.planning.hardware.sustained import SustainedLoad
from heterodyne.planning.launch.engine_choice import choose_engine, choose_kv, choose_width, does_not_fit
from heterodyne.planning.launch.kv_exchange import KvExchange
from heterodyne.planning.launch.latency_choice import (
    DecodePace,
    choose_parallelism,
    choose_sequences,
    choose_step_tokens,
    placed,
)
from heterodyne.planning.launch.requirements import LaunchRequirements
from heterodyne.planning.launch.sequence_capacity import SequenceCapacity, budget_for, most_sequences
from heterodyne.planning.launch.speculation import SpeculativeDecoding, choose_speculation
from heterodyne.planning.launch.weights import Weights, choose_weights
from heterodyne.planning.platform import Platform, host_of, platform_of
from heterodyne.planning.workload_class import BUDGETS, WorkloadClass

CONTEXT_TOKENS = 8192  # unless another is asked for
DRAIN_MAX_S = 600
SEQUENCES_MAX = {EngineKind.LLAMACPP: 256}  # compiled into llama.cpp
SEQUENCES_MAX_USUAL = 1024
SETTINGS = (
    "engine", "tp", "experts", "kv_precision", "context", "sequences", "step_tokens", "memory_fraction", "guessing",
)  # fmt: skip

Row = tuple[str, object, str]  # a setting, its value, and why it is so


class TypicalRequest(Struct, frozen=True, kw_only=True):
    """A usual request of a class."""

    prompt_tokens: int
    output_tokens: int


REQUESTS: Mapping[WorkloadClass, TypicalRequest] = {
    WorkloadClass.INTERACTIVE: TypicalRequest(prompt_tokens=1024, output_tokens=256),
    WorkloadClass.BATCH: TypicalRequest(prompt_tokens=2048, output_tokens=512),
    WorkloadClass.BACKGROUND: TypicalRequest(prompt_tokens=2048, output_tokens=512),
}


class SettingReason(Struct, frozen=True, kw_only=True):
    """A setting and why it is what it is."""

    setting: str
    value: str
    because: str


class Sizing(Struct, frozen=True, kw_only=True):
    """Everything an engine's flags are written from."""

    layout: Layout
    platform: Platform
    workload: WorkloadClass
    ranks: int  # the engine's tensor-parallel size
    is_expert_parallel: bool
    context_tokens: int
    usual_tokens: int
    sequences: int
    step_tokens: int
    memory_fraction: float
    guessing: SpeculativeDecoding | None
    carried: SustainedLoad | None  # of the usual request, within the promise; None: not even one at a time
    name: str | None  # of the pool; None: made of model, chip and class
    weights: Weights
    budget: MemoryBudget  # of one chip, with all sequences inside
    served: ServingEstimate  # what the class's usual request gets with all sequences busy
    basis: Basis
    reasons: dict[str, SettingReason]
    notes: tuple[str, ...]
    kv: KvExchange | None = None  # with other replicas; None: it exchanges none

    @property
    def drain_s(self) -> int:
        """How long a replica that shall stop may take to finish long answers, four times the class's usual."""
        slo, tokens = BUDGETS[self.workload], REQUESTS[self.workload].output_tokens
        return min(DRAIN_MAX_S, ceil(slo.ttft_s + slo.itl_s * tokens * 4))

    def because(self, setting: str) -> str:
        """The reason of a setting."""
        return self.reasons[setting].because


def size(
    requirements: LaunchRequirements, catalogue: Mapping[str, Accelerator], *, measured: Sequence[Profile] = ()
) -> Sizing:
    """Derive a launch, `measured` prices first; raises `InvalidSpec` or `PlanImpossible` with what to change."""
    chip, workload = requirements.accelerator, requirements.workload
    platform, slo = platform_of(chip), requirements.slo or BUDGETS[workload]
    _check(requirements)
    layout, capacity, weights, reasons = _laid_out(requirements, platform, catalogue)
    context, usual = capacity.context_tokens, capacity.usual_tokens
    held = _held(requirements, capacity, catalogue)
    found = profile_for(
        requirements.model, chip, engine=layout.engine, precision=layout.precision, tp=layout.tp, measured=measured
    )
    parallelism = choose_parallelism(layout, platform, found.profile, batch=held, context=usual / 2)
    placement = placed(layout, parallelism)
    pace = DecodePace(placement=placement, profile=found.profile, workload=workload, slo=slo, context=usual / 2)
    load = _usual_load(requirements, usual)
    sequences, sequences_because = _sequences(requirements, pace, load, held=held, layout=layout, platform=platform)
    guessing, guessing_because = choose_speculation(requirements, layout.engine, platform, pace, sequences=sequences)
    guessed = guessing.tokens if guessing else 0
    step_tokens, step_because, carried = choose_step_tokens(
        pace, load, sequences=sequences, held_tokens=held * usual, guessed_tokens=guessed, share=requirements.share
    )
    replica = ReplicaSpec(placement=placement, profile=found.profile, chunk_tokens=step_tokens)
    served = serve(replica, msgspec.structs.replace(load, concurrency=sequences))
    is_expert_parallel = parallelism.ep > 1
    return Sizing(
        layout=layout,
        platform=platform,
        workload=workload,
        ranks=capacity.ranks,
        is_expert_parallel=is_expert_parallel,
        context_tokens=context,
        usual_tokens=usual,
        sequences=sequences,
        step_tokens=step_tokens,
        memory_fraction=ENGINES[layout.engine].memory_fraction,
        guessing=guessing,
        carried=carried,
        name=requirements.name,
        weights=weights,
        budget=budget_for(capacity, sequences),
        served=served,
        basis=found.basis,
        reasons=_in_order(
            *reasons,
            ("experts", is_expert_parallel, _experts_because(layout, parallelism)),
            ("sequences", sequences, sequences_because),
            ("step_tokens", step_tokens, step_because),
            ("guessing", guessing.kind if guessing else "off", guessing_because),
        ),
        notes=(
            *weights.notes,
            *caveats(layout, Demand(context_tokens=context)),
            *_missed(served, carried, slo, workload),
            *([f"the draft is not used: {guessing_because}"] if requirements.draft and not guessing else []),
        ),
        kv=requirements.kv,
    )


def _laid_out(
    requirements: LaunchRequirements, platform: Platform, catalogue: Mapping[str, Accelerator]
) -> tuple[Layout, SequenceCapacity, Weights, list[Row]]:
    """The model on as many chips as it needs, with what memory is left for sequences, and why so."""
    model, chip = requirements.model, requirements.accelerator
    engine, engine_because = choose_engine(chip, requirements.engine)
    kv_precision, kv_because = choose_kv(requirements, engine)
    weights = choose_weights(requirements, engine, platform)
    asked = requirements.context_tokens
    context = min(CONTEXT_TOKENS, model.context_tokens) if asked is None else asked
    usual = context if requirements.usual_tokens is None else min(requirements.usual_tokens, context)
    base = Layout(
        model=model,
        accelerator=chip,
        precision=requirements.precision,
        kv_precision=kv_precision,
        engine=engine,
        memory_fraction=ENGINES[engine].memory_fraction,
        slots=None if engine is EngineKind.LLAMACPP else requirements.sequences or SLOTS_MIN,
    )
    demands = [Demand(context_tokens=context)]
    if requirements.sequences is not None:
        demands.append(Demand(context_tokens=usual, concurrency=requirements.sequences))
    tp, tp_because = choose_width(requirements, base, demands, catalogue)
    layout = msgspec.structs.replace(base, tp=tp)
    ranks = tp * host_of(chip).ranks_per_chip
    if model.heads % ranks:
        raise InvalidSpec(f"tp: {tp} x {chip.name} are {ranks} ranks, which cannot share {model.heads} heads evenly")
    capacity = SequenceCapacity(
        layout=layout, ranks=ranks, context_tokens=context, usual_tokens=usual, draft=requirements.draft
    )
    rows: list[Row] = [
        ("engine", engine, engine_because),
        ("tp", tp, tp_because),
        ("kv_precision", kv_precision, kv_because),
        ("context", context, "asked for" if asked else "long enough for most; --context says otherwise"),
        ("memory_fraction", layout.memory_fraction, "the share these numbers were counted with"),
    ]
    return layout, capacity, weights, rows


def _sequences(
    requirements: LaunchRequirements, pace: DecodePace, load: Load, *, held: int, layout: Layout, platform: Platform
) -> tuple[int, str]:
    if requirements.sequences is not None:
        return requirements.sequences, f"asked for; memory holds {held}"
    because = _held_because(layout.engine, held)
    return choose_sequences(pace, load, held=held, held_because=because, platform=platform)


def _check(requirements: LaunchRequirements) -> None:
    chip, model = requirements.accelerator, requirements.model
    if requirements.precision not in chip.precisions:
        raise InvalidSpec(
            f"precision: {chip.name} is not known to run weights in {requirements.precision}; it is for "
            f"{', '.join(chip.precisions)}"
        )
    counts = {
        "tp": requirements.tp,
        "context": requirements.context_tokens,
        "usual-context": requirements.usual_tokens,
        "max-concurrency": requirements.sequences,
    }
    for name, count in counts.items():
        if count is not None and count < 1:
            raise InvalidSpec(f"{name}: {count} is not a whole number above zero")
    if requirements.context_tokens is not None and requirements.context_tokens > model.context_tokens:
        raise InvalidSpec(
            f"context: {model.name} is made for {model.context_tokens} tokens, not {requirements.context_tokens}"
        )
    draft = requirements.draft
    if draft is not None and draft.vocabulary != model.vocabulary:
        raise InvalidSpec(
            f"draft-model: {draft.name} has {draft.vocabulary} words and {model.name} {model.vocabulary}; "
            "a draft speaks the same vocabulary"
        )


def _held(requirements: LaunchRequirements, capacity: SequenceCapacity, catalogue: Mapping[str, Accelerator]) -> int:
    """How many sequences memory holds; raises when that is none, or fewer than asked for."""
    wanted = requirements.sequences or 1
    most = SEQUENCES_MAX.get(capacity.layout.engine, SEQUENCES_MAX_USUAL)
    if wanted > most:
        raise InvalidSpec(
            f"max-concurrency: {capacity.layout.engine} is planned for up to {most} at once, not {wanted}"
        )
    held = most_sequences(capacity, most)
    if held < wanted:
        tokens = capacity.usual_tokens if held else capacity.context_tokens
        slots = None if capacity.layout.engine is EngineKind.LLAMACPP else max(1, held)
        layout = msgspec.structs.replace(capacity.layout, slots=slots)
        demand = Demand(context_tokens=tokens, concurrency=wanted)
        if memory_budget(layout, demand).is_fitting:
            extras = "a draft model" if requirements.draft else f"whole heads on each of {capacity.ranks} ranks"
            raise PlanImpossible(
                f"{requirements.model.name} on {requirements.accelerator.name}: beside {extras} memory holds "
                f"{held} x {tokens} tokens, not {wanted}; ask for fewer or shorter sequences, or for more chips"
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


def _usual_load(requirements: LaunchRequirements, usual_tokens: int) -> Load:
    """The usual request, shortened to what the context holds."""
    usual = REQUESTS[requirements.workload]
    prompt, output = float(usual.prompt_tokens), float(usual.output_tokens)
    if requirements.request is not None:
        prompt, output = requirements.request.prompt_tokens, requirements.request.output_tokens
    if prompt + output > usual_tokens:
        output = max(1, usual_tokens // 5)
        prompt = max(1, usual_tokens - output)
    return Load(concurrency=1, prompt_tokens=prompt, output_tokens=output)


def _in_order(*rows: Row) -> dict[str, SettingReason]:
    reasons = {name: SettingReason(setting=name, value=str(value), because=because) for name, value, because in rows}
    return {name: reasons[name] for name in SETTINGS}


def _missed(
    served: ServingEstimate, carried: SustainedLoad | None, slo: Slo, workload: WorkloadClass
) -> tuple[str, ...]:
    """What the class will not get, and up to which load it gets all of it."""
    times = f"{slo.ttft_s:g} s to the first token and {slo.itl_s * 1000:.0f} ms a token"
    if carried is None:
        return (f"not even one usual request at a time is within {times} ({workload}); take a faster chip or more",)
    said = [f"one replica carries {carried.requests_per_s:.3g} usual requests/s with nearly all within {times}"]
    if served.itl_s > slo.itl_s:
        said.append(
            f"{served.itl_s * 1000:.0f} ms a token are over the {slo.itl_s * 1000:.0f} ms of {workload} when every "
            "sequence is busy; take a faster chip, more chips or fewer bits"
        )
    return tuple(said)
