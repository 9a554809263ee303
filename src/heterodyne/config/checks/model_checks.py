"""Checks of models: pools, names and fallbacks that exist and agree."""

from collections import deque
from collections.abc import Iterator, Mapping

from heterodyne.config.fields import MODELS, POOLS, dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.served_models import field_of_every_pool, purposes
from heterodyne.config.settings import Settings
from heterodyne.config.suggestions import or_nearest
from heterodyne.fleet.model_settings import ModelSettings


def a_model_is_served(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A section about a model that no pool serves is often a misspelt one."""
    served = purposes(settings)
    for name in settings.models:
        if name not in served:
            yield SettingProblem(
                path=dotted(MODELS, name),
                message=or_nearest("no pool serves this model", name, served),
                rests_on=field_of_every_pool(settings, "model"),
            )


def pools_of_a_model_serve_it(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """The pools a model lists are there, and are its own."""
    for name, model in settings.models.items():
        path = dotted(MODELS, name, "pools")
        if model.pools == ():
            yield SettingProblem(
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
            yield SettingProblem(
                path=f"{path}[{index}]", message=message, rests_on=(POOLS, path, dotted(POOLS, pool, "model"))
            )


def aliases_are_free(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A name means one model."""
    served = purposes(settings)
    first: dict[str, str] = {}
    for name, model in settings.models.items():
        for index, alias in enumerate(model.aliases):
            where = f"{dotted(MODELS, name, 'aliases')}[{index}]"
            if not alias:
                yield SettingProblem(path=where, message="a name is not empty")
            elif alias in served:
                owner = "this model's own name" if alias == name else "the name of another model"
                yield SettingProblem(
                    path=where, message=f'"{alias}" is {owner}', rests_on=field_of_every_pool(settings, "model")
                )
            elif alias in first:
                yield SettingProblem(
                    path=where,
                    message=f'"{alias}" is already {first[alias]}',
                    rests_on=(first[alias].partition("[")[0],),
                )
            first.setdefault(alias, where)


def fallbacks_can_answer(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A fallback is another model, is served, and answers the same kind of request."""
    served = purposes(settings)
    aliases = {alias: name for name, model in settings.models.items() for alias in model.aliases}
    for name, model in settings.models.items():
        for field, others in (("fallbacks", model.fallbacks), ("fallbacks_when_late", model.fallbacks_when_late)):
            for index, other in enumerate(others):
                message = (
                    f'"{other}" is listed twice'
                    if other != name and other in others[:index]
                    else fallback_complaint(name, other, served, aliases)
                )
                if message is not None:
                    yield SettingProblem(
                        path=f"{dotted(MODELS, name, field)}[{index}]",
                        message=message,
                        rests_on=field_of_every_pool(settings, "model", "purpose", "engine"),
                    )


def fallbacks_come_to_an_end(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A request that is handed on is never handed back."""
    reported: set[frozenset[str]] = set()
    for name in settings.models:
        cycle = _try_cycle(settings.models, name)
        if cycle is not None and frozenset(cycle) not in reported:
            reported.add(frozenset(cycle))
            yield SettingProblem(
                path=dotted(MODELS, name, "fallbacks"),
                message=f"goes round in a circle: {' -> '.join(cycle)}",
                rests_on=tuple(dotted(MODELS, one, "fallbacks") for one in cycle),
            )


def fallback_complaint(model: str, fallback: str, served: Mapping[str, str], aliases: Mapping[str, str]) -> str | None:
    """What keeps one model from answering for another."""
    if fallback == model:
        return "a model cannot answer in its own place"
    if fallback in aliases and fallback not in served:
        return f'"{fallback}" is an alias; did you mean "{aliases[fallback]}"?'
    if fallback not in served:
        return or_nearest(f'no pool serves "{fallback}"', fallback, [other for other in served if other != model])
    if model in served and served[fallback] != served[model]:
        return f'"{fallback}" has purpose "{served[fallback]}", this model "{served[model]}"'
    return None


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
