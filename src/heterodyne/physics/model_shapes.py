"""The models we know by name, read once from the data that travels with the package."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec
from msgspec import Struct

from heterodyne.domain.nearest import unknown_name
from heterodyne.physics.model_spec import ModelSpec


class _KnownModels(Struct, frozen=True, kw_only=True):
    """Specs by short name, and the short name behind every other one."""

    specs: dict[str, ModelSpec]
    short_names: dict[str, str]
    ids: dict[str, tuple[str, ...]]  # as its makers write them


def model_specs() -> Mapping[str, ModelSpec]:
    """Every model in the package, by its short name."""
    return _known().specs


def model_spec(name: str) -> ModelSpec:
    """The model of this short name or Hugging Face id; raises `UnknownName` with the nearest ones."""
    known = _known()
    short = known.short_names.get(name.lower())
    if short is None:
        raise unknown_name("model", name, known.specs)
    return known.specs[short]


def is_known(name: str) -> bool:
    """Whether it is the short name or Hugging Face id of a built-in model."""
    return name.lower() in _known().short_names


def hugging_face_ids(name: str) -> tuple[str, ...]:
    """The ids under which a built-in model is published, in lower case."""
    return tuple(id_ for id_, short in _known().short_names.items() if short == name and id_ != name)


def published_id(name: str) -> str | None:
    """The Hugging Face id of a built-in model as its makers write it, the one tuned for chat where there are two."""
    ids = _known().ids.get(name, ())
    tuned = [one for one in ids if one.endswith(("-Instruct", "-it", "-instruct"))]
    return next(iter((*tuned, *ids)), None)


@cache
def _known() -> _KnownModels:
    text = files("heterodyne.physics").joinpath("data", "models.toml").read_text(encoding="utf-8")
    specs, short_names, ids = {}, {}, {}
    for name, fields in tomllib.loads(text).items():
        ids[name] = tuple(fields.pop("aliases"))
        short_names.update({one.lower(): name for one in (name, *ids[name])})
        specs[name] = msgspec.convert({**fields, "name": name}, ModelSpec)
    return _KnownModels(specs=specs, short_names=short_names, ids=ids)
