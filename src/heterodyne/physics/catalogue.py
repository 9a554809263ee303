"""The accelerators we know by name, read once from the data that travels with the package."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.nearest import unknown_name
from heterodyne.physics.hardware import Accelerator

ACCELERATORS = "accelerators"
SETTINGS = "settings"  # the source of what an operator wrote himself

Overrides = Mapping[str, Mapping[str, object]]  # chip: its fields that differ


@cache
def accelerators() -> Mapping[str, Accelerator]:
    """Every accelerator in the package, by name."""
    return {
        name: _accelerator(name, fields, path=f"{ACCELERATORS}.{name}")
        for name, fields in _table("accelerators.toml").items()
    }


@cache
def sources() -> Mapping[str, str]:
    """What the keys in `Accelerator.sources` and `Price.source` stand for."""
    return {key: str(sentence) for key, sentence in _table("sources.toml").items()}


def accelerator(name: str, catalogue: Mapping[str, Accelerator] | None = None) -> Accelerator:
    """The accelerator of this name or alias; raises `UnknownName` with the nearest ones."""
    catalogue = accelerators() if catalogue is None else catalogue
    wanted = name.lower()
    if wanted in catalogue:
        return catalogue[wanted]
    for one in catalogue.values():
        if wanted in one.aliases:
            return one
    raise unknown_name("accelerator", name, catalogue)


def with_overrides(
    catalogue: Mapping[str, Accelerator], overrides: Overrides, *, path: str = ACCELERATORS
) -> Mapping[str, Accelerator]:
    """The catalogue with some fields of some chips replaced, and chips it lacks added; errors begin with `path`."""
    changed = dict(catalogue)
    for name, fields in overrides.items():
        known = msgspec.structs.asdict(catalogue[name]) if name in catalogue else {}
        said = dict.fromkeys(fields, SETTINGS)
        marked = {**known, **_with_sources(fields), "sources": {**known.get("sources", {}), **said}}
        changed[name] = _accelerator(name, marked, path=f"{path}.{name}")
    return changed


def _table(name: str) -> dict[str, dict[str, object]]:
    return tomllib.loads(files("heterodyne.physics").joinpath("data", name).read_text(encoding="utf-8"))


def _with_sources(fields: Mapping[str, object]) -> dict[str, object]:
    """A price from the settings need not say so itself."""
    prices = fields.get("prices")
    if not isinstance(prices, list | tuple):
        return dict(fields)
    named = [{"source": SETTINGS, **price} if isinstance(price, Mapping) else price for price in prices]
    return {**fields, "prices": named}


def _accelerator(name: str, fields: Mapping[str, object], *, path: str) -> Accelerator:
    for field in fields:
        if field not in Accelerator.__struct_fields__:
            raise InvalidSpec(f"{path}.{field}: {unknown_name('field', field, Accelerator.__struct_fields__)}")
    try:
        made = msgspec.convert(msgspec.to_builtins({**fields, "name": name}), Accelerator)
    except msgspec.ValidationError as error:
        raise InvalidSpec(f"{path}{_place(error)}: {str(error).partition(' - at ')[0]}") from error
    for field, number in _rates(made).items():
        if not number > 0:
            raise InvalidSpec(f"{path}.{field}: {number:g} is not above zero")
    return made


def _place(error: msgspec.ValidationError) -> str:
    """Where in the table, for example `.link.name`."""
    found = re.search(r"`\$([^`]*)`", str(error))
    return found[1] if found else ""


def _rates(chip: Accelerator) -> dict[str, float]:
    """Every number that must be above zero, by its path."""
    return {
        "memory_bytes": chip.memory_bytes,
        "memory_bytes_per_s": chip.memory_bytes_per_s,
        "fast_domain_chips": chip.fast_domain_chips,
        "link.bytes_per_s": chip.link.bytes_per_s,
        "link.pair_bytes_per_s": chip.link.pair_bytes_per_s,
        **{f"flops.{precision}": rate for precision, rate in chip.flops.items()},
        **{f"achievable_flops.{precision}": rate for precision, rate in chip.achievable_flops.items()},
        **{f"prices.{price.provider}": price.usd_per_hour for price in chip.prices},
        **({} if chip.power_w is None else {"power_w": chip.power_w}),
    }
