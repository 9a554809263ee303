"""What a JSON Schema says of how large a number is, how long a text, and how many parts a value has."""

from collections.abc import Mapping
from typing import Any, TypeGuard


def number_misfit(value: float, schema: Mapping[str, Any]) -> str | None:
    """The keyword that it breaks; None: none."""
    least, most = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if above is True:  # as older schemas spell it
        least, above = None, least
    if below is True:
        most, below = None, most
    if least is not None and _is_number(least) and value < least:
        return "minimum"
    if most is not None and _is_number(most) and value > most:
        return "maximum"
    if above is not None and _is_number(above) and value <= above:
        return "exclusiveMinimum"
    if below is not None and _is_number(below) and value >= below:
        return "exclusiveMaximum"
    step = schema.get("multipleOf")
    if step is not None and _is_number(step) and step > 0 and not _is_multiple(value, step):
        return "multipleOf"
    return None


def text_misfit(value: str, schema: Mapping[str, Any]) -> str | None:
    """The same of a text."""
    return _outside(len(value), schema, "minLength", "maxLength")


def size_misfit(value: "dict[str, Any] | list[Any]", schema: Mapping[str, Any]) -> str | None:
    """The same of what has parts, and of members that must be there."""
    if isinstance(value, list):
        return _outside(len(value), schema, "minItems", "maxItems")
    if not _has_all(value, schema.get("required")):
        return "required"
    dependent = schema.get("dependentRequired")
    for name, needed in dependent.items() if isinstance(dependent, dict) else ():
        if name in value and not _has_all(value, needed):
            return "dependentRequired"
    return _outside(len(value), schema, "minProperties", "maxProperties")


def _has_all(value: Mapping[str, Any], names: object) -> bool:
    return not isinstance(names, list) or all(name in value for name in names if isinstance(name, str))


def _outside(size: int, schema: Mapping[str, Any], least: str, most: str) -> str | None:
    low, high = schema.get(least), schema.get(most)
    if isinstance(low, int) and size < low:
        return least
    return most if isinstance(high, int) and size > high else None


def _is_number(found: Any) -> TypeGuard[float]:
    return isinstance(found, (int, float)) and not isinstance(found, bool)


def _is_multiple(value: float, step: float) -> bool:
    """Of decimal fractions too, none of which a float holds."""
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    times = value / step
    return abs(times) < 1e15 and abs(times - round(times)) < 1e-9 * max(1.0, abs(times))
