"""Whether a value fits the part of JSON Schema by which models go wrong: types, members, enums, items."""

from collections.abc import Mapping, Sequence
from typing import Final

DEPTH_MAX: Final = 32

_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
}


def fits(value: object, schema: object, depth: int = 0) -> bool:
    """Keywords that are not known allow everything: a judge that is too strict costs a dear answer each time."""
    if not isinstance(schema, Mapping) or depth > DEPTH_MAX:
        return True
    if "enum" in schema and isinstance(schema["enum"], Sequence) and value not in schema["enum"]:
        return False
    if "const" in schema and value != schema["const"]:
        return False
    if not _is_of_type(value, schema.get("type")):
        return False
    options = schema.get("anyOf", schema.get("oneOf"))
    if isinstance(options, Sequence) and options and not any(fits(value, one, depth + 1) for one in options):
        return False
    if isinstance(value, dict):
        return _members_fit(value, schema, depth)
    if isinstance(value, list):
        return all(fits(item, schema.get("items"), depth + 1) for item in value)
    return True


def _is_of_type(value: object, names: object) -> bool:
    wanted = [names] if isinstance(names, str) else names
    if not isinstance(wanted, Sequence):
        return True
    known = [name for name in wanted if name in _TYPES]
    if not known:
        return True
    if isinstance(value, bool):  # which Python takes for a number
        return "boolean" in known
    return any(isinstance(value, _TYPES[name]) for name in known)


def _members_fit(value: Mapping[str, object], schema: Mapping[str, object], depth: int) -> bool:
    required = schema.get("required")
    if isinstance(required, Sequence) and any(name not in value for name in required):
        return False
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    if schema.get("additionalProperties") is False and any(name not in known for name in value):
        return False
    return all(fits(member, known.get(name), depth + 1) for name, member in value.items())
