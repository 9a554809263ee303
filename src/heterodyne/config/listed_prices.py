"""Pools that say no price of their own get that of the price list, before settings are judged together."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import structs

from heterodyne.config.fields import POOLS, dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.settings import Settings
from heterodyne.config.suggestions import nearest
from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.price import Price
from heterodyne.fleet.price_list import PriceList, read_price_list
from heterodyne.fleet.settings import PoolSettings

PRICE_LIST = "fleet.price_list"
LIST_MODEL = "price_list_model"
PRICE_FIELDS = tuple(f"price_{name}" for name in Price.__struct_fields__)
# What the list puts before the names of engines whose models somebody else runs. Others are looked up only by
# `price_list_model`: who speaks OpenAI's API is not known, and a model of our own costs what its hardware does.
PREFIXES = {
    "anthropic": ("", "anthropic/"),
    "gemini": ("gemini/",),
    "azure-openai": ("azure/",),
    "bedrock": ("", "bedrock/", "bedrock_mantle/"),
    "bedrock-converse": ("", "bedrock/"),
}


def with_listed_prices(settings: Settings) -> tuple[Settings, list[SettingProblem]]:
    """The settings with every price filled in that the list has, and what is wrong with those it has not."""
    problems = list(_unasked(settings))
    asking = {name: pool for name, pool in settings.pools.items() if not _is_priced(pool) and _names(pool)}
    file = settings.fleet.price_list
    if file is None or not asking:
        return settings, problems
    try:
        price_list = read_price_list(Path(file).expanduser())
    except InvalidSpec as error:
        return settings, [*problems, SettingProblem(path=PRICE_LIST, message=error.message)]
    pools = dict(settings.pools)
    for name, pool in asking.items():
        found = _price(name, pool, price_list)
        if isinstance(found, SettingProblem):
            problems.append(found)
        else:
            prices = {f"price_{field}": value for field, value in structs.asdict(found).items()}
            pools[name] = structs.replace(pool, **prices)
    return structs.replace(settings, pools=pools), problems


def _unasked(settings: Settings) -> Iterator[SettingProblem]:
    """A name for the list where it cannot be looked up."""
    for name, pool in settings.pools.items():
        if pool.price_list_model is None:
            continue
        path = dotted(POOLS, name, LIST_MODEL)
        if settings.fleet.price_list is None:
            yield SettingProblem(
                path=path, message=f"names a model of {PRICE_LIST}, which is absent", rests_on=(PRICE_LIST,)
            )
        elif _is_priced(pool):
            own = [field for field in PRICE_FIELDS if getattr(pool, field) is not None]
            yield SettingProblem(
                path=path,
                message=f"names a model of {PRICE_LIST}, but {own[0]} is the pool's own; keep one of them",
                rests_on=tuple(dotted(POOLS, name, field) for field in own),
            )


def _is_priced(pool: PoolSettings) -> bool:
    return any(getattr(pool, field) is not None for field in PRICE_FIELDS)


def _names(pool: PoolSettings) -> tuple[str, ...]:
    """What the list may have it by, the likeliest first; empty: it is not looked for."""
    if pool.price_list_model is not None:
        return (pool.price_list_model,)
    return tuple(prefix + (pool.engine_model or pool.model) for prefix in PREFIXES.get(pool.engine, ()))


def _price(name: str, pool: PoolSettings, price_list: PriceList) -> Price | SettingProblem:
    names = _names(pool)
    listed = next((one for one in names if one in price_list), None)
    if listed is None:
        field = LIST_MODEL if pool.price_list_model else "engine_model" if pool.engine_model else "model"
        near = nearest(names[0], price_list.models)
        hint = f'did you mean "{near}"? N' if near else "n"
        return SettingProblem(
            path=dotted(POOLS, name, field),
            message=f'{PRICE_LIST} has no "{names[0]}"; {hint}ame the one meant in {LIST_MODEL}, or give prices here',
            rests_on=(PRICE_LIST,),
        )
    try:
        return price_list.price(listed)
    except InvalidSpec as error:
        return SettingProblem(path=PRICE_LIST, message=error.message, rests_on=(dotted(POOLS, name),))
