"""What a JSON Schema says of the size of a number, and of the length of a text."""

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
    if _is_number(least) and value < least:
        return "minimum"
    if _is_number(most) and value > most:
        return "maximum"
    if _is_number(above) and value <= above:
        return "exclusiveMinimum"
    if _is_number(below) and value >= below:
        return "exclusiveMaximum"
    step = schema.get("multipleOf")
    if _is_number(step) and step > 0 and not _is_multiple(value, step):
        return "multipleOf"
    return None


def text_misfit(value: str, schema: Mapping[str, Any]) -> str | None:
    """The same of a text."""
    least, most = schema.get("minLength"), schema.get("maxLength")
    if isinstance(least, int) and len(value) < least:
        return "minLength"
    if isinstance(most, int) and len(value) > most:
        return "maxLength"
    return None


def _is_number(found: Any) -> TypeGuard[float]:
    return isinstance(found, (int, float)) and not isinstance(found, bool)


def _is_multiple(value: float, step: float) -> bool:
    """Of decimal fractions too, none of which a float holds."""
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    times = value / step
    return abs(times) < 1e15 and abs(times - round(times)) < 1e-9 * max(1.0, abs(times))
