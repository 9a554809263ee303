"""What models must say: of pools, names, stand-ins and regions that exist and agree."""

from collections import deque
from collections.abc import Iterator, Mapping

from heterodyne.config.fields import POOLS, dotted
from heterodyne.config.problems import Problem
from heterodyne.config.settings import Settings
from heterodyne.config.suggestions import or_nearest
from heterodyne.fleet.model_settings import ModelSettings

MODELS = "models"


def a_model_is_served(settings: Settings, _: Mapping[str, str]) -> Iterator[Problem]:
    """A section about a model that no pool serves is often a misspelt one."""
    served = _purposes(settings)
    for name in settings.models:
        if name not in served:
            yield Problem(
                path=dotted(MODELS, name),
                message=or_nearest("no pool serves this model", name, served),
                rests_on=_field_of_every_pool(settings, "model"),
            )


def pools_of_a_model_serve_it(settings: Settings, _: Mapping[str, str]) -> Iterator[Problem]:
    """The pools a model lists are there, and are its own."""
    for name, model in settings.models.items():
        path = dotted(MODELS, name, "pools")
        if model.pools == ():
            yield Problem(
                path=path, message="no pool is left to serve it; list one, or remove the line for all of them"
            )
        serving = [pool for pool, one in settings.pools.items() if one.model == name]
        for index, pool in enumerate(model.pools or ()):
            if pool not in settings.pools:
                message = or_nearest(f'no pool "{pool}"', pool, serving or settings.pools)
            elif pool not in serving:
                message = f'{dotted(POOLS, pool)} serves "{settings.pools[pool].model}"'
            else:
                continue
            yield Problem(
                path=f"{path}[{index}]", message=message, rests_on=(POOLS, path, dotted(POOLS, pool, "model"))
            )


def aliases_are_free(settings: Settings, _: Mapping[str, str]) -> Iterator[Problem]:
    """A name means one model."""
    served = _purposes(settings)
    first: dict[str, str] = {}
    for name, model in settings.models.items():
        for index, alias in enumerate(model.aliases):
            where = f"{dotted(MODELS, name, 'aliases')}[{index}]"
            if not alias:
                yield Problem(path=where, message="a name is not empty")
            elif alias in served:
                owner = "this model's own name" if alias == name else "the name of another model"
                yield Problem(
                    path=where, message=f'"{alias}" is {owner}', rests_on=_field_of_every_pool(settings, "model")
                )
            elif alias in first:
                yield Problem(
                    path=where,
                    message=f'"{alias}" is already {first[alias]}',
                    rests_on=(first[alias].partition("[")[0],),
                )
            first.setdefault(alias, where)


def fallbacks_can_answer(settings: Settings, _: Mapping[str, str]) -> Iterator[Problem]:
    """Who answers in a model's place is another model, is served, and answers the same kind of request."""
    purposes = _purposes(settings)
    aliases = {alias: name for name, model in settings.models.items() for alias in model.aliases}
    for name, model in settings.models.items():
        for index, fallback in enumerate(model.fallbacks):
            if fallback == name:
                message = "a model cannot answer in its own place"
            elif fallback in model.fallbacks[:index]:
                message = f'"{fallback}" is listed twice'
            elif fallback in aliases and fallback not in purposes:
                message = f'"{fallback}" is an alias; did you mean "{aliases[fallback]}"?'
            elif fallback not in purposes:
                others = [other for other in purposes if other != name]
                message = or_nearest(f'no pool serves "{fallback}"', fallback, others)
            elif name in purposes and purposes[fallback] != purposes[name]:
                message = f'"{fallback}" has purpose "{purposes[fallback]}", this model "{purposes[name]}"'
            else:
                continue
            yield Problem(
                path=f"{dotted(MODELS, name, 'fallbacks')}[{index}]",
                message=message,
                rests_on=(
                    *_field_of_every_pool(settings, "model"),
                    *_field_of_every_pool(settings, "purpose"),
                ),
            )


def fallbacks_come_to_an_end(settings: Settings, _: Mapping[str, str]) -> Iterator[Problem]:
    """A request that is handed on is never handed back."""
    told: set[frozenset[str]] = set()
    for name in settings.models:
        cycle = _try_cycle(settings.models, name)
        if cycle is not None and frozenset(cycle) not in told:
            told.add(frozenset(cycle))
            yield Problem(
                path=dotted(MODELS, name, "fallbacks"),
                message=f"goes round in a circle: {' -> '.join(cycle)}",
                rests_on=tuple(dotted(MODELS, one, "fallbacks") for one in cycle),
            )


def regions_have_pools(settings: Settings, _: Mapping[str, str]) -> Iterator[Problem]:
    """A region that a model names is one that a pool is in."""
    regions = _regions(settings)
    for name, model in settings.models.items():
        for field, named in (("regions_only", model.regions_only), ("regions_first", model.regions_first)):
            for index, region in enumerate(named):
                if region not in regions:
                    yield Problem(
                        path=f"{dotted(MODELS, name, field)}[{index}]",
                        message=or_nearest(f'no pool is in region "{region}"', region, regions),
                        rests_on=_field_of_every_pool(settings, "region"),
                    )


def a_model_may_be_served_somewhere(settings: Settings, _: Mapping[str, str]) -> Iterator[Problem]:
    """Of the pools that serve a model, one at least is in a region where it may be served."""
    regions = _regions(settings)
    for name, model in settings.models.items():
        own = [
            pool
            for pool, one in settings.pools.items()
            if one.model == name and (model.pools is None or pool in model.pools)
        ]
        allowed = model.regions_only
        if not allowed or not own or not regions.issuperset(allowed):
            continue  # nothing to compare, or a region that is refused above
        if all(settings.pools[pool].region not in allowed for pool in own):
            yield Problem(
                path=dotted(MODELS, name, "regions_only"),
                message=f"none of the pools that serve it is there: {', '.join(own)}",
                rests_on=(dotted(MODELS, name, "pools"), *_field_of_every_pool(settings, "region")),
            )


def _purposes(settings: Settings) -> dict[str, str]:
    """Every model that a pool serves, with what it is for."""
    return {pool.model: pool.purpose for pool in settings.pools.values()}


def _regions(settings: Settings) -> set[str]:
    return {pool.region for pool in settings.pools.values() if pool.region is not None}


def _field_of_every_pool(settings: Settings, field: str) -> tuple[str, ...]:
    """What a finding rests on that has looked at all pools."""
    return (POOLS, *(dotted(POOLS, name, field) for name in settings.pools))


def _try_cycle(models: Mapping[str, ModelSettings], start: str) -> tuple[str, ...] | None:
    """The shortest way back to a model; one that names itself is another problem."""
    came_from = {start: start}
    ahead = deque([start])
    while ahead:
        here = ahead.popleft()
        for fallback in models[here].fallbacks if here in models else ():
            if fallback == start != here:
                return (*_way(came_from, here), start)
            if fallback not in came_from:
                came_from[fallback] = here
                ahead.append(fallback)
    return None


def _way(came_from: Mapping[str, str], end: str) -> tuple[str, ...]:
    before = came_from[end]
    return (end,) if before == end else (*_way(came_from, before), end)
