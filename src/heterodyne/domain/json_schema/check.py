"""Whether a value is of a JSON Schema, and where it first is not.

What a schema says in other words than these, or says wrongly, allows everything. Patterns are looked at only where the
schema is the operator's: a client's could take for ever.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, final

from heterodyne.domain.json_schema.sizes import number_misfit, size_misfit, text_misfit

DEPTH_MAX: Final = 64
STEPS_MIN: Final = 2_000
STEPS_PER_CHAR: Final = 2  # a value of so many characters has fewer parts; the rest is for schemas with alternatives
STEPS_MAX: Final = 4_000_000

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
}
_LIMITS: Final = frozenset(
    {"enum", "const", "pattern", "minLength", "maxLength", "minItems", "maxItems", "required", "dependentRequired"}
    | {"minProperties", "maxProperties"}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
)
# What schemas of numbers say that is the same for all numbers between two that fit.
_OF_NUMBERS: Final = frozenset(
    {"type", "title", "description", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
)
_COMBINING: Final = frozenset({"allOf", "anyOf", "oneOf", "not", "if"})


class SchemaMisfit(NamedTuple):
    """Where a value is not of its schema, and which keyword says so."""

    where: str  # such as ".cities[2]"; empty: the value itself
    keyword: str


class SchemaTooCostly(ValueError):
    """The schema goes round in circles, or has more alternatives than are tried for a value of this size."""


def steps_for(chars: int) -> int:
    """How much is tried for a value that is written in so many characters."""
    return min(STEPS_MIN + STEPS_PER_CHAR * chars, STEPS_MAX)


def fits(value: object, schema: object, *, steps_max: int = STEPS_MIN) -> bool:
    """Whether it is of the schema, as far as anybody can tell."""
    try:
        return try_misfit(value, schema, steps_max=steps_max) is None
    except (SchemaTooCostly, RecursionError):
        return True


def try_misfit(
    value: object, schema: object, *, steps_max: int = STEPS_MIN, with_patterns: bool = False
) -> SchemaMisfit | None:
    """The first; None: it is of the schema. Raises SchemaTooCostly."""
    return _Check(schema, steps_max, with_patterns=with_patterns).misfit(value, schema, 0)


def same(one: object, other: object) -> bool:
    """Equal as JSON has it, where true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return one == other


@final
class _Check:
    """One value against one schema."""

    def __init__(self, root: object, steps_max: int, *, with_patterns: bool) -> None:
        self._root = root
        self._steps_left = steps_max
        self._with_patterns = with_patterns
        self._said: dict[int, tuple[bool, bool]] = {}

    def misfit(self, value: object, schema: object, depth: int) -> SchemaMisfit | None:
        self._steps_left -= 1
        if self._steps_left < 0 or depth > DEPTH_MAX:
            raise SchemaTooCostly
        if not isinstance(schema, dict):
            return SchemaMisfit("", "false") if schema is False else None
        if "$ref" in schema and isinstance(schema["$ref"], str):
            found = self.misfit(value, self._found(schema["$ref"]), depth + 1)
            if found is not None:
                return found
        if "type" in schema and not _is_of_type(value, schema):
            return SchemaMisfit("", "type")
        if value is None and schema.get("nullable") is True:
            return None
        limits, combines = self._says(schema)
        broken = self._broken(value, schema) if limits else None
        if broken is not None:
            return SchemaMisfit("", broken)
        found = self._combined(value, schema, depth) if combines else None
        if found is None and isinstance(value, dict):
            return self._members(value, schema, depth)
        if found is None and isinstance(value, list):
            return self._items(value, schema, depth)
        return found

    def _says(self, schema: dict[str, Any]) -> tuple[bool, bool]:
        """Whether it has keywords about the value alone, and any that combine schemas: most have neither."""
        said = self._said.get(id(schema))  # which lives as long as this, in the schema that is its root
        if said is None:
            said = self._said[id(schema)] = not _LIMITS.isdisjoint(schema), not _COMBINING.isdisjoint(schema)
        return said

    def _fits(self, value: object, schema: object, depth: int) -> bool:
        return self.misfit(value, schema, depth + 1) is None

    def _found(self, reference: str) -> object:
        """A place in the same schema; what stands elsewhere allows everything."""
        if not reference.startswith("#"):
            return True
        found: object = self._root
        for step in filter(None, reference[1:].split("/")):
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict) and name in found:
                found = found[name]
            elif isinstance(found, list) and name.isdecimal() and int(name) < len(found):
                found = found[int(name)]
            else:
                return True
        return found

    def _broken(self, value: object, schema: Mapping[str, Any]) -> str | None:
        """A keyword about the value alone that it breaks."""
        listed = schema.get("enum")
        if isinstance(listed, list):
            self._steps_left -= len(listed) >> 4  # comparing is quicker than looking
            if not any(same(value, one) for one in listed):
                return "enum"
        if "const" in schema and not same(value, schema["const"]):
            return "const"
        if isinstance(value, str):
            lacks = self._with_patterns and _lacks(schema.get("pattern"), value)
            return "pattern" if lacks else text_misfit(value, schema)
        if isinstance(value, (int, float)):
            return None if isinstance(value, bool) else number_misfit(value, schema)
        return size_misfit(value, schema) if isinstance(value, (dict, list)) else None

    def _combined(self, value: object, schema: Mapping[str, Any], depth: int) -> SchemaMisfit | None:
        for one in _schemas(schema, "allOf"):
            found = self.misfit(value, one, depth + 1)
            if found is not None:
                return found
        options = _schemas(schema, "anyOf")
        if options and not any(self._fits(value, one, depth) for one in options):
            return SchemaMisfit("", "anyOf")
        options = _schemas(schema, "oneOf")
        if options and sum(self._fits(value, one, depth) for one in options) != 1:
            return SchemaMisfit("", "oneOf")
        if "not" in schema and _is_schema(schema["not"]) and self._fits(value, schema["not"], depth):
            return SchemaMisfit("", "not")
        if "if" in schema and _is_schema(schema["if"]):
            then = "then" if self._fits(value, schema["if"], depth) else "else"
            return self.misfit(value, schema.get(then, True), depth + 1)
        return None

    def _members(self, value: dict[str, Any], schema: Mapping[str, Any], depth: int) -> SchemaMisfit | None:
        properties, patterns = schema.get("properties"), schema.get("patternProperties")
        known = properties if isinstance(properties, dict) else {}
        others, names = schema.get("additionalProperties", True), schema.get("propertyNames", True)
        for name, member in value.items():
            wanted = [known[name]] if name in known else []
            if isinstance(patterns, dict):
                # Of patterns that are not looked at, any may mean this member.
                trusted = self._with_patterns
                wanted += [one for at, one in patterns.items() if not _lacks(at, name)] if trusted else [True]
            if not wanted and others is False:
                return SchemaMisfit("", "additionalProperties")
            for one in wanted or (others,):
                found = self.misfit(member, one, depth + 1)
                if found is not None:
                    return SchemaMisfit(f".{name}{found.where}", found.keyword)
            if names is not True and not self._fits(name, names, depth):
                return SchemaMisfit("", "propertyNames")
        return None

    def _items(self, value: list[Any], schema: Mapping[str, Any], depth: int) -> SchemaMisfit | None:
        items, first = schema.get("items", True), _schemas(schema, "prefixItems")
        if isinstance(items, list):  # as older schemas spell it
            items, first = schema.get("additionalItems", True), items
        fits_at_once = not first and self._fits_at_once(value, items, depth)
        for number, item in enumerate(() if fits_at_once else value):
            wanted = first[number] if number < len(first) else items
            found = None if wanted is True else self.misfit(item, wanted, depth + 1)
            if found is not None:
                return SchemaMisfit(f"[{number}]{found.where}", found.keyword)
        if "contains" in schema and _is_schema(schema["contains"]):
            wanted = schema["contains"]
            if not any(self._fits(one, wanted, depth) for one in value):
                return SchemaMisfit("", "contains")
        return SchemaMisfit("", "uniqueItems") if schema.get("uniqueItems") is True and self._repeats(value) else None

    def _fits_at_once(self, value: list[Any], items: object, depth: int) -> bool:
        """Whether all are whole numbers of which the least and the greatest fit, so that the others do: lists of them
        may be long."""
        if not isinstance(items, dict) or not _OF_NUMBERS.issuperset(items) or set(map(type, value)) != {int}:
            return False
        self._steps_left -= len(value) >> 4
        return self._fits(min(value), items, depth) and self._fits(max(value), items, depth)

    def _repeats(self, value: list[Any]) -> bool:
        for number, one in enumerate(value):
            self._steps_left -= number >> 2
            if self._steps_left < 0:
                raise SchemaTooCostly
            if any(same(one, other) for other in value[:number]):
                return True
        return False


def _is_of_type(value: object, schema: Mapping[str, Any]) -> bool:
    names = schema["type"]
    if type(names) is str and type(value) in _TYPES.get(names, ()):
        return True
    wanted = [names] if isinstance(names, str) else names if isinstance(names, list) else []
    known = [name for name in wanted if isinstance(name, str) and name in _TYPES]
    if not known or (value is None and schema.get("nullable") is True):
        return True
    if isinstance(value, bool):  # which Python takes for a number
        return "boolean" in known
    if isinstance(value, float) and value.is_integer() and "integer" in known:
        return True
    return any(isinstance(value, _TYPES[name]) for name in known)


def _schemas(schema: Mapping[str, Any], name: str) -> list[Any]:
    found = schema.get(name)
    return found if isinstance(found, list) else []


def _is_schema(found: object) -> bool:
    return isinstance(found, (dict, bool))


def _lacks(pattern: object, text: str) -> bool:
    return isinstance(pattern, str) and _compiled(pattern).search(text) is None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
