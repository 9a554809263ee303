"""Whether a pool's model fits on the hardware that the pool declares."""

from collections.abc import Iterator, Mapping

from msgspec import structs

from heterodyne.config.checks.hardware_checks import known_hardware
from heterodyne.config.fields import POOLS, dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.settings import Settings
from heterodyne.domain.errors import InvalidSpec, UnknownName
from heterodyne.fleet.settings import PoolSettings
from heterodyne.physics.hardware import Accelerator
from heterodyne.physics.memory import Demand, MemoryBudget, memory_budget
from heterodyne.physics.precision import Precision
from heterodyne.planning.hardware.fit import Fit, fit
from heterodyne.routing.prediction.pool_prior import layout_of

# Only what surely fails is refused, so the engine is given all it could be: the whole chip, one sequence, a small KV.
WHOLE_CHIP = 1.0
ONE_SLOT = 1
KV_PRECISION = Precision.FP8
CONTEXT_TOKENS_MIN = 512  # of that sequence, where the pool sets no length
GIB = 2**30
RESTS_ON = ("model", "hardware", "tp", "engine", "shape", "precision", "context_tokens", "weights", "checks_memory")


def a_model_fits_its_hardware(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A pool whose weights and one sequence are more than its chips hold would never start."""
    named = {name: pool for name, pool in settings.pools.items() if pool.hardware is not None and pool.checks_memory}
    if not named:
        return
    chips, misdescribed = known_hardware(settings)
    for name, pool in named.items():
        if pool.hardware in misdescribed or _is_offloaded_in_part(pool):
            continue
        try:
            found = _fit(pool, chips)
        except UnknownName:
            continue  # a model of unknown size, or a chip that is refused elsewhere
        except InvalidSpec as error:  # chips that cannot share the model's heads
            place, _colon, message = error.message.partition(": ")
            yield _problem(name, place, message)
            continue
        if not found.is_fitting:
            yield _problem(name, "hardware", _arithmetic(found))


def _fit(pool: PoolSettings, chips: Mapping[str, Accelerator]) -> Fit:
    layout = structs.replace(
        layout_of(pool, chips), memory_fraction=WHOLE_CHIP, slots=ONE_SLOT, kv_precision=KV_PRECISION
    )
    demand = Demand(context_tokens=pool.context_tokens or min(CONTEXT_TOKENS_MIN, layout.model.context_tokens))
    budget = memory_budget(layout, demand)
    return Fit(layout=layout, demand=demand, budget=budget) if budget.is_fitting else fit(layout, demand, chips)


def _is_offloaded_in_part(pool: PoolSettings) -> bool:
    """Layers of a replica started here that stay on the CPU need no room on the accelerator."""
    return pool.weights is not None and pool.gpu_layers >= 0


def _arithmetic(found: Fit) -> str:
    layout, budget = found.layout, found.budget
    where = layout.accelerator.name if layout.tp == 1 else f"each of {layout.tp} x {layout.accelerator.name}"
    smallest = f" (the smallest change that fits: {found.changes[0].sentence})" if found.changes else ""
    return (
        f"{layout.model.name} in {layout.precision} does not fit: {_parts(budget, found.demand)} are "
        f"{(budget.memory_bytes - budget.free_bytes - budget.unclaimed_bytes) / GIB:.1f} GiB, and {where} has "
        f"{budget.memory_bytes / GIB:.1f} GiB; correct hardware, tp, precision or shape{smallest}, or set "
        "checks_memory = false where you know better"
    )


def _parts(budget: MemoryBudget, demand: Demand) -> str:
    return (
        f"weights {budget.weights_bytes / GIB:.1f} GiB, activations {budget.activation_bytes / GIB:.1f}, "
        f"engine {budget.overhead_bytes / GIB:.1f}, KV of {demand.context_tokens} tokens in {KV_PRECISION} "
        f"{budget.kv_bytes / GIB:.1f}"
    )


def _problem(name: str, field: str, message: str) -> SettingProblem:
    return SettingProblem(
        path=dotted(POOLS, name, field),
        message=message,
        rests_on=("physics.hardware", *(dotted(POOLS, name, one) for one in RESTS_ON)),
    )
