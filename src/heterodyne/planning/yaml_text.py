"""Plain values as YAML that any parser reads back unchanged: mappings, lists and scalars, nothing else."""

import json
import re
from collections.abc import Mapping, Sequence

YamlValue = Mapping[str, "YamlValue"] | Sequence["YamlValue"] | str | int | float | bool | None

# Words no reader takes for anything but a string: after dashes a letter or a slash, and no YAML punctuation.
_PLAIN = re.compile(r"-{0,2}[A-Za-z/]([A-Za-z0-9_./:-]*[A-Za-z0-9_./-])?\Z")
_NOT_STRINGS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


def yaml_text(value: YamlValue) -> str:
    """One document, with a line break at its end."""
    return "\n".join(_lines(value)) + "\n"


def _lines(value: YamlValue) -> list[str]:
    if isinstance(value, Mapping) and value:
        return [line for key, item in value.items() for line in _entry(f"{_scalar(key)}:", item)]
    if isinstance(value, Sequence) and not isinstance(value, str) and value:
        return [line for item in value for line in _item(item)]
    return [_scalar(value)]


def _entry(head: str, item: YamlValue) -> list[str]:
    if not _is_nested(item):
        return [f"{head} {_scalar(item)}"]
    return [head, *(f"  {line}" for line in _lines(item))]


def _item(item: YamlValue) -> list[str]:
    first, *rest = _lines(item)
    return [f"- {first}", *(f"  {line}" for line in rest)]


def _is_nested(value: YamlValue) -> bool:
    return isinstance(value, Mapping | Sequence) and not isinstance(value, str) and bool(value)


def _scalar(value: YamlValue) -> str:
    if isinstance(value, str):
        is_plain = _PLAIN.match(value) is not None and value.lower() not in _NOT_STRINGS
        return value if is_plain else _quoted(value)
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, Sequence):
        return "[]"
    if isinstance(value, float):
        return _float(value)
    return json.dumps(value)


def _quoted(text: str) -> str:
    """JSON's strings are YAML's double-quoted ones, so long as nothing but ASCII is in them bare."""
    return json.dumps(text) if text.isascii() else "".join(['"', *map(_escaped, text), '"'])


def _escaped(character: str) -> str:
    if character.isascii():
        return json.dumps(character)[1:-1]
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # JSON would write two halves


def _float(number: float) -> str:
    """YAML 1.1 readers want a point in the mantissa and a sign in the exponent."""
    text = repr(number)
    mantissa, mark, exponent = text.partition("e")
    if not mark:
        return {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}.get(text, text)
    sign = "" if exponent[0] in "+-" else "+"
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{sign}{exponent}"
