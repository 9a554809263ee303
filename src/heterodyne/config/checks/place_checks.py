"""Checks of where models are served: regions, chips and labels that there are, and rules that leave a pool."""

from collections.abc import Iterator, Mapping

from heterodyne.config.checks.hardware_checks import known_hardware, unknown_hardware
from heterodyne.config.fields import MODELS, dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.served_models import field_of_every_pool, own_pools
from heterodyne.config.settings import Settings
from heterodyne.config.suggestions import or_nearest
from heterodyne.domain.errors import UnknownName
from heterodyne.fleet.model_settings import GIB, ModelSettings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.hardware import Accelerator

HARDWARE_FIELDS = ("prefer_hardware", "require_hardware")
LABEL_FIELDS = ("prefer_labels", "require_labels")

Chips = Mapping[str, Accelerator]


def regions_have_pools(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A region that a model names is one that a pool is in."""
    regions = _regions(settings)
    for name, model in settings.models.items():
        for field, named in (("regions_only", model.regions_only), ("regions_first", model.regions_first)):
            for index, region in enumerate(named):
                if region not in regions:
                    yield SettingProblem(
                        path=f"{dotted(MODELS, name, field)}[{index}]",
                        message=or_nearest(f'no pool is in region "{region}"', region, regions),
                        rests_on=field_of_every_pool(settings, "region"),
                    )


def hardware_of_models_is_known(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A chip that a model names is in the catalogue, or described in the settings; a pool need not have it yet."""
    named = [
        (f"{dotted(MODELS, name, field)}[{index}]", chip)
        for name, model in settings.models.items()
        for field in HARDWARE_FIELDS
        for index, chip in enumerate(getattr(model, field))
    ]
    yield from unknown_hardware(settings, named)


def labels_have_pools(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A label that a model names is one that a pool has, with that value."""
    values: dict[str, set[str]] = {}
    for pool in settings.pools.values():
        for label, value in pool.labels.items():
            values.setdefault(label, set()).add(value)
    for name, model in settings.models.items():
        for field in LABEL_FIELDS:
            for label, value in getattr(model, field).items():
                if label not in values:
                    message = or_nearest(f'no pool has a label "{label}"', label, values)
                elif value not in values[label]:
                    message = or_nearest(f'no pool has "{label}" = "{value}"', value, values[label])
                else:
                    continue
                yield SettingProblem(
                    path=dotted(MODELS, name, field, label),
                    message=message,
                    rests_on=(dotted(MODELS, name, field), *field_of_every_pool(settings, "labels")),
                )


def preferences_are_within_requirements(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """What is preferred is not what is ruled out."""
    for name, model in settings.models.items():
        for index, region in enumerate(model.regions_first):
            if model.regions_only and region not in model.regions_only:
                yield _ruled_out(name, "regions_first", f"[{index}]", region, "regions_only")
        chips = _chips(settings, *model.prefer_hardware, *model.require_hardware)
        required = {_canonical(chip, chips) for chip in model.require_hardware}
        for index, chip in enumerate(model.prefer_hardware):
            if required and _canonical(chip, chips) not in required:
                yield _ruled_out(name, "prefer_hardware", f"[{index}]", chip, "require_hardware")
        for label, value in model.prefer_labels.items():
            if model.require_labels.get(label, value) != value:
                yield _ruled_out(name, "prefer_labels", f".{label}", value, "require_labels")


def a_model_may_be_served_somewhere(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Of the pools that serve a model, one at least has everything that the model asks of it."""
    for name, model in settings.models.items():
        removed = _removed(settings, name)
        if not _regions(settings).issuperset(model.regions_only) or not removed or not all(removed.values()):
            continue  # a region that is refused above, nothing to compare, or a pool is left
        rules = list(dict.fromkeys(rule for why in removed.values() for rule in why))
        pools = "; ".join(
            f"{pool} {' and '.join(f'{reason} ({rule})' for rule, reason in why.items())}"
            for pool, why in removed.items()
        )
        yield SettingProblem(
            path=dotted(MODELS, name, *(rules if len(rules) == 1 else ())),
            message=f"no pool is left to serve it: {pools}",
            rests_on=(
                "physics.hardware",
                *(dotted(MODELS, name, field) for field in ("pools", *rules)),
                *field_of_every_pool(settings, "model", "region", "hardware", "tp", "engine", "labels"),
            ),
        )


def allowed_pools(settings: Settings, name: str) -> dict[str, PoolSettings]:
    """The pools that serve a model and have everything it asks of them."""
    removed = _removed(settings, name)
    return {pool: one for pool, one in own_pools(settings, name).items() if not removed[pool]}


def _removed(settings: Settings, name: str) -> dict[str, dict[str, str]]:
    """Every pool that serves a model, with the rules that keep it from doing so."""
    model, own = settings.models[name], own_pools(settings, name)
    chips = _chips(settings, *(pool.hardware for pool in own.values()), *model.require_hardware)
    return {pool: dict(_removals(model, one, chips)) for pool, one in own.items()}


def _removals(model: ModelSettings, pool: PoolSettings, chips: Chips) -> Iterator[tuple[str, str]]:
    """The rules of a model that keep a pool from serving it, each with what the pool has instead."""
    if model.regions_only and pool.region not in model.regions_only:
        yield "regions_only", "is in no region" if pool.region is None else f"is in {pool.region}"
    chip = None if pool.hardware is None else _canonical(pool.hardware, chips)
    if model.require_hardware and chip not in {_canonical(one, chips) for one in model.require_hardware}:
        yield "require_hardware", "does not say its hardware" if chip is None else f"runs on {chip}"
    if model.require_engines and pool.engine not in model.require_engines:
        yield "require_engines", f"runs {pool.engine}"
    for label, value in model.require_labels.items():
        if pool.labels.get(label) != value:
            given = pool.labels.get(label)
            yield "require_labels", f'has no "{label}"' if given is None else f'has "{label}" = "{given}"'
            break
    if model.require_memory_bytes_min is not None:
        memory_bytes = chips[chip].memory_bytes * pool.tp if chip is not None and chip in chips else 0
        if memory_bytes < model.require_memory_bytes_min:
            has = "does not say its hardware" if chip is None else f"has {memory_bytes / GIB:.2f} GiB"
            yield "require_memory_gib_min", has


def _ruled_out(model: str, field: str, place: str, value: str, by: str) -> SettingProblem:
    return SettingProblem(
        path=dotted(MODELS, model, field) + place,
        message=f'"{value}" is ruled out by {dotted(MODELS, model, by)}; add it there, or do not prefer it',
        rests_on=(dotted(MODELS, model, field), dotted(MODELS, model, by)),
    )


def _regions(settings: Settings) -> set[str]:
    return {pool.region for pool in settings.pools.values() if pool.region is not None}


def _chips(settings: Settings, *named: str | None) -> Chips:
    """The catalogue, read only where a setting names a chip."""
    return known_hardware(settings)[0] if any(named) else {}


def _canonical(name: str, chips: Chips) -> str:
    """The catalogue's own name of a chip; one it does not know is refused elsewhere and stays what it is."""
    try:
        return accelerator(name, chips).name
    except UnknownName:
        return name
