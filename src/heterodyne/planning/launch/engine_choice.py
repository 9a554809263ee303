"""Which engine, how many chips, and in what format keys and values are kept: the choices that memory follows from."""

from collections.abc import Mapping, Sequence

import msgspec

from heterodyne.domain.errors import InvalidSpec, PlanImpossible
from heterodyne.domain.nearest import unknown_name
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.hardware import Accelerator
from heterodyne.physics.memory import Demand, Layout, memory_budget
from heterodyne.physics.precision import Precision
from heterodyne.planning.hardware.fit import fit
from heterodyne.planning.launch.requirements import LaunchRequirements
from heterodyne.planning.platform import Platform, host_of, joined_widths, platform_of

# What an engine can keep keys and values in, by platform; sixteen bits it always can.
KV_FORMATS: Mapping[tuple[EngineKind, Platform], tuple[Precision, ...]] = {
    (EngineKind.VLLM, Platform.CUDA): (Precision.FP8,),
    (EngineKind.VLLM, Platform.ROCM): (Precision.FP8,),
    (EngineKind.VLLM, Platform.TPU): (Precision.FP8,),
    (EngineKind.SGLANG, Platform.CUDA): (Precision.FP8,),
    (EngineKind.SGLANG, Platform.ROCM): (Precision.FP8,),
    (EngineKind.TENSORRT_LLM, Platform.CUDA): (Precision.FP8,),
    **{(EngineKind.LLAMACPP, one): (Precision.INT8, Precision.INT4) for one in Platform},
}
_SIXTEEN_BITS = (Precision.BF16, Precision.FP16)


def choose_engine(chip: Accelerator, wanted: EngineKind | None) -> tuple[EngineKind, str]:
    """The engine and the reason; raises when the chip runs none that we can launch, or not the one wanted."""
    able = [kind for kind in EngineKind if kind in chip.engines]
    if not able:
        raise PlanImpossible(
            f"{chip.name}: runs {', '.join(chip.engines)}, none of which we can launch; "
            f"we can launch {', '.join(EngineKind)}"
        )
    if wanted is None:
        return able[0], f"the first engine we can launch that runs on {chip.name}"
    if wanted not in able:
        raise InvalidSpec(f"{chip.name}: {unknown_name('engine', wanted, able)}")
    return wanted, "asked for"


def choose_kv(requirements: LaunchRequirements, engine: EngineKind) -> tuple[Precision, str]:
    """The format of keys and values and the reason; raises when the engine cannot keep them so."""
    chip = requirements.accelerator
    able = (*_SIXTEEN_BITS, *KV_FORMATS.get((engine, platform_of(chip)), ()))
    if requirements.kv_precision is not None:
        if requirements.kv_precision not in able:
            raise InvalidSpec(
                f"kv-precision: {engine} on {chip.name} keeps keys and values in {', '.join(able)}, "
                f"not {requirements.kv_precision}"
            )
        return requirements.kv_precision, "asked for"
    if requirements.precision is Precision.FP8 and Precision.FP8 in able and Precision.FP8 in chip.flops:
        return Precision.FP8, "the weights are fp8 already; half the bytes hold twice the sequences"
    return Precision.BF16, "sixteen bits, as the model was trained"


def choose_width(
    requirements: LaunchRequirements, base: Layout, demands: Sequence[Demand], catalogue: Mapping[str, Accelerator]
) -> tuple[int, str]:
    """How many chips and the reason; raises `PlanImpossible` for more than one host holds, or when nothing fits."""
    chip, host = requirements.accelerator, host_of(requirements.accelerator)
    if requirements.tp is not None:
        _check_width(requirements.tp, chip)
        return requirements.tp, "asked for"
    widths = [tp for tp in joined_widths(chip) if _is_shared_evenly(requirements, tp)]
    if not widths:
        raise PlanImpossible(
            f"{chip.name}: {requirements.model.name} has {requirements.model.heads} heads, which none of "
            f"{', '.join(map(str, host.widths))} chips share evenly; name another chip or model"
        )
    unmet = demands[0]
    for tp in widths:
        layout = msgspec.structs.replace(base, tp=tp)
        misses = [demand for demand in demands if not memory_budget(layout, demand).is_fitting]
        if not misses:
            held = " and ".join(f"{one.concurrency} x {one.context_tokens} tokens" for one in demands)
            return tp, f"the fewest chips of a host that hold the model and {held}"
        unmet = misses[0]
    raise does_not_fit(msgspec.structs.replace(base, tp=widths[-1]), unmet, catalogue)


def does_not_fit(layout: Layout, demand: Demand, catalogue: Mapping[str, Accelerator]) -> PlanImpossible:
    """The refusal of a layout that does not hold its demand, with the smallest change that would."""
    chips = f"{layout.tp} x {layout.accelerator.name}" if layout.tp > 1 else layout.accelerator.name
    sequences = f"{demand.concurrency} x {demand.context_tokens} tokens"
    said = f"{layout.model.name} in {layout.precision} with {sequences} does not fit on {chips} under {layout.engine}"
    changes = [change.sentence for change in fit(layout, demand, catalogue).changes]
    if not changes:
        return PlanImpossible(f"{said}, and no single change we know of would make it")
    others = "".join(f"\nor {sentence}" for sentence in changes[1:3])
    return PlanImpossible(f"{said}; the smallest change that does: {changes[0]}{others}")


def _check_width(tp: int, chip: Accelerator) -> None:
    host = host_of(chip)
    if tp > max(host.widths):
        raise PlanImpossible(
            f"tp: {tp} x {chip.name} are more than one node, which holds {max(host.widths)}; "
            "a replica over several nodes needs a launcher of its own, which this is not: lower --tp or --precision"
        )
    if not host.is_any_width and tp not in host.widths:
        raise InvalidSpec(f"tp: one host gives {chip.name} in {', '.join(map(str, host.widths))}, not {tp}")


def _is_shared_evenly(requirements: LaunchRequirements, tp: int) -> bool:
    return requirements.model.heads % (tp * host_of(requirements.accelerator).ranks_per_chip) == 0
