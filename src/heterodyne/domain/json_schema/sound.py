"""What is wrong with a JSON Schema that an operator writes: a word that nobody looks after would allow everything."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

_NOTES: Final = frozenset(
    {"$schema", "$id", "$comment", "title", "description", "default", "examples", "example", "deprecated"}
    | {"readOnly", "writeOnly", "format", "strict", "name"}
)
_ONE: Final = ("not", "if", "then", "else", "contains", "propertyNames", "additionalProperties", "additionalItems")
_MANY: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED: Final = ("properties", "patternProperties", "$defs", "definitions")
_SIZES: Final = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_NUMBERS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_OTHERS: Final = frozenset(
    {"$ref", "type", "enum", "const", "items", "required", "dependentRequired", "pattern", "uniqueItems", "nullable"}
)
_KNOWN: Final = _NOTES | _OTHERS | {*_ONE, *_MANY, *_NAMED, *_SIZES, *_NUMBERS}
TYPES: Final = ("object", "array", "string", "boolean", "null", "integer", "number")


def try_fault(schema: object) -> str | None:
    """The first thing that is wrong, with its path; None: nothing is."""
    return next(_faults(schema, "$", schema, 0), None)


def _faults(schema: object, where: str, root: object, depth: int) -> Iterator[str]:
    if isinstance(schema, bool):
        return
    if not isinstance(schema, Mapping):
        yield f"{where} is no schema"
        return
    if depth > 64:
        yield f"{where} is too deep"
        return
    for name, value in schema.items():
        yield from _fault_of(name, value, f"{where}.{name}", root)
    for name in _ONE:
        if name in schema:
            yield from _faults(schema[name], f"{where}.{name}", root, depth + 1)
    lists = [name for name in (*_MANY, "items") if isinstance(schema.get(name), list)]
    for name in lists:
        for number, one in enumerate(schema[name]):
            yield from _faults(one, f"{where}.{name}[{number}]", root, depth + 1)
    if "items" in schema and "items" not in lists:
        yield from _faults(schema["items"], f"{where}.items", root, depth + 1)
    for name in _NAMED:
        for member, one in schema[name].items() if isinstance(schema.get(name), Mapping) else ():
            yield from _faults(one, f"{where}.{name}.{member}", root, depth + 1)


def _fault_of(name: str, value: Any, where: str, root: object) -> Iterator[str]:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if name not in _KNOWN:
        yield f"{where} is no keyword that is looked after"
    elif name == "type" and not _are_types(value):
        yield f"{where} is none of {', '.join(TYPES)}"
    elif name in ("enum", *_MANY) and not isinstance(value, list):
        yield f"{where} is no list"
    elif name == "required" and not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
        yield f"{where} is no list of names"
    elif name in (*_NAMED, "dependentRequired") and not isinstance(value, Mapping):
        yield f"{where} is no table"
    elif name in _SIZES and not (is_number and isinstance(value, int) and value >= 0):
        yield f"{where} is no size"
    elif name in _NUMBERS and not is_number and not (name.startswith("exclusive") and isinstance(value, bool)):
        yield f"{where} is no number"
    elif name == "pattern" and not isinstance(value, str):
        yield f"{where} is no text"
    elif name == "$ref" and not _is_found(value, root):
        yield f"{where} names no place in the schema"


def _are_types(value: Any) -> bool:
    wanted = [value] if isinstance(value, str) else value
    return isinstance(wanted, list) and bool(wanted) and all(one in TYPES for one in wanted)


def _is_found(reference: Any, root: object) -> bool:
    if not isinstance(reference, str) or not reference.startswith("#"):
        return False
    found = root
    for step in filter(None, reference[1:].split("/")):
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and name in found:
            found = found[name]
        elif isinstance(found, list) and name.isdecimal() and int(name) < len(found):
            found = found[int(name)]
        else:
            return False
    return True
