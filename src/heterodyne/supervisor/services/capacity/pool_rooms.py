"""What the performance model says of a model's pools: the rate each replica carries within the SLO, and why."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct

from heterodyne.config.served_models import own_pools
from heterodyne.config.settings import Settings
from heterodyne.console.fleet.pages import ReplicaCondition, ReplicaRow
from heterodyne.domain.errors import OperatorError
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.physics.memory import Layout
from heterodyne.physics.profile import Basis
from heterodyne.physics.profile_catalogue import profile_for
from heterodyne.physics.replica.from_layout import scheduling_of
from heterodyne.physics.serving import Slo
from heterodyne.planning.hardware.pool_capacity import PoolCapacity, replica_requests_per_s
from heterodyne.planning.traffic.request_shape import RequestShape
from heterodyne.planning.workload_class import WorkloadClass, budget
from heterodyne.routing.prediction.pool_prior import layout_of
from heterodyne.supervisor.physics_facts import PhysicsFacts

RESTS = {
    Basis.OWN: "physics, measured on these replicas",
    Basis.CHIP: "physics, measured on this chip",
    Basis.FAMILY: "physics, measured on other chips under this engine",
    Basis.DATASHEET: "physics, from the datasheet alone",
}


class KnownPool(Struct, frozen=True, kw_only=True):
    """One pool, what it carries, and what that rests on."""

    measure: PoolCapacity
    settings: PoolSettings
    layout: Layout | None  # None: not known
    basis: str


class ModelRooms(Struct, frozen=True, kw_only=True):
    """The pools of one model under one SLO."""

    pools: tuple[KnownPool, ...]
    slo: Slo
    slo_text: str  # in words


def model_rooms(
    settings: Settings, model: str, rows: Iterable[ReplicaRow], shape: RequestShape | None, facts: PhysicsFacts
) -> ModelRooms:
    """Only replicas that take work count. Without an SLO, the strictest usual budget that any replica keeps."""
    up = Counter(row.pool for row in rows if row.state is ReplicaCondition.READY and row.model == model)
    query = [_PoolQuery(name, pool, shape) for name, pool in own_pools(settings, model).items()]
    budgets = _budgets(settings.models.get(model))
    for slo, slo_text in budgets:
        pools = tuple(_known(one, up[one.name], slo, facts) for one in query)
        if any(one.measure.replica_requests_per_s for one in pools) or (slo, slo_text) == budgets[-1]:
            break
    return ModelRooms(pools=pools, slo=slo, slo_text=slo_text)


def _budgets(model_settings: ModelSettings | None) -> list[tuple[Slo, str]]:
    ttft_ms = None if model_settings is None else model_settings.slo_ttft_ms
    itl_ms = None if model_settings is None else model_settings.slo_itl_ms
    times: Mapping[str, float | None] = {
        "ttft_s": None if ttft_ms is None else ttft_ms / 1000,
        "itl_s": None if itl_ms is None else itl_ms / 1000,
    }
    if ttft_ms is None and itl_ms is None:
        return [(budget(one), f"the usual of class {one}, as nothing is promised") for one in WorkloadClass]
    return [(budget(WorkloadClass.INTERACTIVE, **times), "the promise")]


class _PoolQuery(NamedTuple):
    """A pool whose rate is wanted."""

    name: str
    pool: PoolSettings
    shape: RequestShape | None


def _known(query: _PoolQuery, replicas: int, slo: Slo, facts: PhysicsFacts) -> KnownPool:
    rate, layout, basis = _rate(query, slo, facts)
    measure = PoolCapacity(pool=query.name, replicas=replicas, replica_requests_per_s=rate)
    return KnownPool(measure=measure, settings=query.pool, layout=layout, basis=basis)


def _rate(query: _PoolQuery, slo: Slo, facts: PhysicsFacts) -> tuple[float | None, Layout | None, str]:
    name, pool, shape = query
    if pool.hardware is None:
        return None, None, f"not known: pools.{name} names no hardware"
    if pool.purpose != "generate":
        return None, None, "not known: there is a performance model of generation only"
    try:
        layout = layout_of(pool, facts.catalogue)
        if shape is None:
            return None, layout, "not known yet: no request was answered, so nobody knows how long they are"
        scheduling = scheduling_of(layout, context_tokens=max(1, round(shape.prompt_tokens + shape.output_tokens)))
    except OperatorError as error:
        return None, None, f"not known: {error.message}"
    found = profile_for(
        layout.model,
        layout.accelerator,
        engine=layout.engine,
        precision=layout.precision,
        tp=layout.tp,
        measured=facts.measured,
    )
    usual = RequestShape(prompt_tokens=shape.prompt_tokens, output_tokens=max(1.0, shape.output_tokens))
    rate = replica_requests_per_s(layout, found.profile, scheduling, shape=usual, slo=slo)
    within = f"within {slo.ttft_s * 1000:g} ms and {slo.itl_s * 1000:g} ms a token"
    if not rate:
        return rate, layout, f"{RESTS[found.basis]}: not even one request alone is {within}"
    return rate, layout, f"{RESTS[found.basis]}; 99 of 100 requests {within}, no prompt found in a cache"
