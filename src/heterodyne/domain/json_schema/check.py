"""Whether a value is of a JSON Schema, and where it first is not.

What a schema says in other words than these, or says wrongly, allows everything. Patterns are looked at only where the
schema is the operator's: a client's could take for ever.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, final

from heterodyne.domain.json_schema.sizes import number_misfit, text_misfit

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


class Misfit(NamedTuple):
    """Where a value is not of its schema, and which keyword says so."""

    where: str  # such as "$.cities[2]"
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
) -> Misfit | None:
    """None: it is of the schema; raises SchemaTooCostly."""
    return next(_Check(schema, steps_max, with_patterns=with_patterns).misfits(value, schema, "$", 0), None)


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

    def misfits(self, value: object, schema: object, where: str, depth: int) -> Iterator[Misfit]:
        """All of them, in no order that matters; whoever needs one takes one."""
        self._step(depth)
        if schema is False:
            yield Misfit(where, "false")
        if not isinstance(schema, Mapping):
            return
        reference = schema.get("$ref")
        if isinstance(reference, str):
            yield from self.misfits(value, self._found(reference), where, depth + 1)
        if not _is_of_type(value, schema):
            yield Misfit(where, "type")
            return
        if value is None and schema.get("nullable") is True:
            return
        yield from self._listed(value, schema, where)
        yield from self._combined(value, schema, where, depth)
        if isinstance(value, dict):
            yield from self._members(value, schema, where, depth)
        elif isinstance(value, list):
            yield from self._items(value, schema, where, depth)
        elif isinstance(value, str):
            pattern = schema.get("pattern") if self._with_patterns else None
            broken = text_misfit(value, schema) or ("pattern" if _lacks(pattern, value) else None)
            if broken is not None:
                yield Misfit(where, broken)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            broken = number_misfit(value, schema)
            if broken is not None:
                yield Misfit(where, broken)

    def _fits(self, value: object, schema: object, depth: int) -> bool:
        return next(self.misfits(value, schema, "", depth + 1), None) is None

    def _step(self, depth: int) -> None:
        self._steps_left -= 1
        if self._steps_left < 0 or depth > DEPTH_MAX:
            raise SchemaTooCostly

    def _found(self, reference: str) -> object:
        """A place in the same schema; what stands elsewhere allows everything."""
        if not reference.startswith("#"):
            return True
        found: object = self._root
        for step in filter(None, reference[1:].split("/")):
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, Mapping) and name in found:
                found = found[name]
            elif isinstance(found, list) and name.isdecimal() and int(name) < len(found):
                found = found[int(name)]
            else:
                return True
        return found

    def _listed(self, value: object, schema: Mapping[str, Any], where: str) -> Iterator[Misfit]:
        listed = schema.get("enum")
        if isinstance(listed, list):
            self._steps_left -= len(listed) >> 4  # comparing is quicker than looking
            if not any(same(value, one) for one in listed):
                yield Misfit(where, "enum")
        if "const" in schema and not same(value, schema["const"]):
            yield Misfit(where, "const")

    def _combined(self, value: object, schema: Mapping[str, Any], where: str, depth: int) -> Iterator[Misfit]:
        for one in _schemas(schema, "allOf"):
            yield from self.misfits(value, one, where, depth + 1)
        options = _schemas(schema, "anyOf")
        if options and not any(self._fits(value, one, depth) for one in options):
            yield Misfit(where, "anyOf")
        options = _schemas(schema, "oneOf")
        if options and sum(self._fits(value, one, depth) for one in options) != 1:
            yield Misfit(where, "oneOf")
        if _is_schema(schema.get("not")) and self._fits(value, schema["not"], depth):
            yield Misfit(where, "not")
        if _is_schema(schema.get("if")):
            then = schema.get("then" if self._fits(value, schema["if"], depth) else "else", True)
            yield from self.misfits(value, then, where, depth + 1)

    def _members(self, value: Mapping[str, Any], schema: Mapping[str, Any], where: str, depth: int) -> Iterator[Misfit]:
        required, properties = schema.get("required"), schema.get("properties")
        if isinstance(required, list) and any(isinstance(name, str) and name not in value for name in required):
            yield Misfit(where, "required")
        if not _is_between(len(value), schema, "minProperties", "maxProperties"):
            yield Misfit(where, "size")
        dependent = schema.get("dependentRequired")
        for name, needed in dependent.items() if isinstance(dependent, Mapping) else ():
            if (
                name in value
                and isinstance(needed, list)
                and any(isinstance(one, str) and one not in value for one in needed)
            ):
                yield Misfit(where, "dependentRequired")
        known = properties if isinstance(properties, Mapping) else {}
        patterns = schema.get("patternProperties")
        patterns = patterns if isinstance(patterns, Mapping) else {}
        others = schema.get("additionalProperties", True)
        names = schema.get("propertyNames", True)
        for name, member in value.items():
            inside = f"{where}.{name}" if len(where) < 200 else where
            if names is not True:
                yield from self.misfits(name, names, inside, depth + 1)
            if name in known:
                yield from self.misfits(member, known[name], inside, depth + 1)
            matching = self._matching(name, patterns)
            for one in matching:
                yield from self.misfits(member, one, inside, depth + 1)
            if name not in known and not matching and others is not True:
                if others is False:
                    yield Misfit(where, "additionalProperties")
                else:
                    yield from self.misfits(member, others, inside, depth + 1)

    def _matching(self, name: str, patterns: Mapping[str, Any]) -> list[object]:
        """What the names that are known by a pattern ask of this one; of patterns that are not looked at, nothing."""
        if not patterns or not self._with_patterns:
            return [True] if patterns else []
        return [one for pattern, one in patterns.items() if not _lacks(pattern, name)]

    def _items(self, value: list[Any], schema: Mapping[str, Any], where: str, depth: int) -> Iterator[Misfit]:
        if not _is_between(len(value), schema, "minItems", "maxItems"):
            yield Misfit(where, "size")
        items, first = schema.get("items", True), _schemas(schema, "prefixItems")
        if isinstance(items, list):  # as older schemas spell it
            items, first = schema.get("additionalItems", True), items
        for number, item in enumerate(value):
            wanted = first[number] if number < len(first) else items
            if wanted is not True:
                yield from self.misfits(item, wanted, f"{where}[{number}]" if len(where) < 200 else where, depth + 1)
        if _is_schema(schema.get("contains")) and not any(self._fits(one, schema["contains"], depth) for one in value):
            yield Misfit(where, "contains")
        if schema.get("uniqueItems") is True and self._repeats(value):
            yield Misfit(where, "uniqueItems")

    def _repeats(self, value: list[Any]) -> bool:
        for number, one in enumerate(value):
            self._steps_left -= number
            self._step(0)
            if any(same(one, other) for other in value[:number]):
                return True
        return False


def _is_of_type(value: object, schema: Mapping[str, Any]) -> bool:
    names = schema.get("type")
    wanted = [names] if isinstance(names, str) else names
    if not isinstance(wanted, Sequence):
        return True
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
    return isinstance(found, (Mapping, bool))


def _is_between(size: int, schema: Mapping[str, Any], least: str, most: str) -> bool:
    low, high = schema.get(least), schema.get(most)
    return not (isinstance(low, int) and size < low) and not (isinstance(high, int) and size > high)


def _lacks(pattern: object, text: str) -> bool:
    return isinstance(pattern, str) and _compiled(pattern).search(text) is None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
