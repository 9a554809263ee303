"""Pure: what the settings allow the autoscaler, by model."""

from collections.abc import Mapping

from msgspec import structs

from heterodyne.config.settings import Settings
from heterodyne.domain.fleet import PoolName, Replica
from heterodyne.fleet.pool_scaling import PoolScaling
from heterodyne.planning.scaling.capacity import CapacityCurve
from heterodyne.planning.scaling.limits import PoolLimits, ScalingRules
from heterodyne.ports.fleet_driver import DrivenPool

PROMPT_TOKEN_WEIGHT = 0.1  # of a token of an answer: prompts are read many tokens at a time


def scaled_pools(settings: Settings) -> dict[str, dict[PoolName, PoolScaling]]:
    """By model, the pools that grow and shrink."""
    found: dict[str, dict[PoolName, PoolScaling]] = {}
    for name, pool in settings.pools.items():
        table = pool.scaling
        if table is not None:
            found.setdefault(pool.model, {})[PoolName(name)] = table
    return found


def scaling_rules(
    settings: Settings,
    pools: Mapping[PoolName, PoolScaling],
    replicas: Mapping[PoolName, Replica],
    driven: Mapping[PoolName, DrivenPool],
) -> ScalingRules:
    """Of one model, in the seconds that the autoscaler counts by. `replicas` has one of each pool where there is one,
    for what it costs; drivers bound what is allowed."""
    general = settings.autoscaling
    tables = {name: _at_speed(table, general.speed) for name, table in pools.items()}
    return ScalingRules(
        pools=tuple(_limits(name, table, replicas.get(name), driven.get(name)) for name, table in tables.items()),
        share=general.share,
        spare=general.spare,
        headroom=general.headroom,
        budget_usd_per_hour=general.budget_usd_per_hour,
        idle_s=general.idle_s * general.speed,
        forecasts=general.forecasts,
    )


def _at_speed(table: PoolScaling, speed: float) -> PoolScaling:
    assert table.requests_per_s is not None  # a check of the settings
    return structs.replace(table, requests_per_s=table.requests_per_s / speed, cold_start_s=table.cold_start_s * speed)


def _limits(pool: PoolName, table: PoolScaling, replica: Replica | None, driven: DrivenPool | None) -> PoolLimits:
    most = table.maximum
    if driven is not None and driven.maximum is not None:
        most = max(table.minimum, min(most, driven.maximum))
    return PoolLimits(
        pool=pool,
        capacity=_capacity(table),
        minimum=table.minimum,
        maximum=most,
        usd_per_hour=(replica.price.usd_per_hour or 0.0) if replica is not None else 0.0,
        cold_start_s=table.cold_start_s,
        loss_per_hour=table.loss_per_hour,
    )


def _capacity(table: PoolScaling) -> CapacityCurve:
    """A straight line through what one replica carries; what is late corrects it."""
    assert table.requests_per_s is not None
    return CapacityCurve.of(
        ((1, table.requests_per_s),),
        prompt_tokens=table.prompt_tokens,
        output_tokens=table.output_tokens,
        prompt_token_s=PROMPT_TOKEN_WEIGHT,
        output_token_s=1.0,
    )
