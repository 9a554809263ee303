"""Checks of LoRA adapters: an engine that takes them, and names that are free."""

from collections.abc import Iterator, Mapping

from heterodyne.config.fields import POOLS, dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.settings import Settings
from heterodyne.domain.engine_load import Capability
from heterodyne.engines.catalogue import ENGINES


def adapters_meet_an_engine_that_takes_them(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Not every engine takes adapters, and none is given to a replica that is started here."""
    able = [name for name, engine in ENGINES.items() if Capability.LORA in engine.capabilities]
    for name, pool in settings.pools.items():
        if not pool.adapters:
            continue
        if pool.weights is not None:
            message = "a replica started here from weights has no adapters; they are for replicas reached by urls"
        elif pool.engine not in able:
            message = f'"{pool.engine}" takes no adapters by name; {", ".join(able)} do'
        else:
            continue
        yield SettingProblem(
            path=dotted(POOLS, name, "adapters"),
            message=message,
            rests_on=(dotted(POOLS, name, "engine"), dotted(POOLS, name, "weights")),
        )


def adapter_names_are_free(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Clients ask for an adapter as they ask for a model, so one name means one thing."""
    models = {pool.model for pool in settings.pools.values()}
    aliases = {alias: model for model, rule in settings.models.items() for alias in rule.aliases}
    first: dict[str, str] = {}
    for name, pool in settings.pools.items():
        for adapter in pool.adapters:
            other = first.setdefault(adapter, name)
            if adapter in models:
                taken = "the name of a model"
            elif adapter in aliases:
                taken = f"an alias of {dotted('models', aliases[adapter])}"
            elif settings.pools[other].model != pool.model:
                taken = f'an adapter of another model, "{settings.pools[other].model}", in {dotted(POOLS, other)}'
            else:
                continue
            yield SettingProblem(path=dotted(POOLS, name, "adapters", adapter), message=f"the name is already {taken}")
