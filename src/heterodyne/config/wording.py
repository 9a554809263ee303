"""Types and values in words: what a setting expects and what it got."""

from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
from msgspec import inspect

from heterodyne.config.fields import Field

PATTERNS = {"^[0-9a-f]{64}$": "64 lower-case hex digits"}


def expected(field: Field) -> str:
    """What a setting takes, for example `an integer from 0 to 65535`."""
    words = type_in_words(field.type)
    return f"{words}, or absent" if field.is_optional else words


def type_in_words(annotation: Any) -> str:
    """One annotation as a phrase that can follow "expected"."""
    base = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    if get_origin(base) is Literal:  # msgspec would sort the values; their own order tells more
        return "one of " + ", ".join(f'"{value}"' for value in get_args(base))
    return _in_words(inspect.type_info(annotation))


def got(annotation: Any, value: object) -> str:
    """A refused value in words. Free text may be a key or a URL with a password, so it is never repeated."""
    if isinstance(value, str):
        return msgspec.json.encode(value).decode() if _is_short_word(annotation) else "other text"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None or isinstance(value, bool | int):
        return msgspec.json.encode(value).decode()
    return str(value)


def _in_words(info: inspect.Type) -> str:
    match info:
        case inspect.Metadata():
            return _in_words(info.type)
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return "an integer" + _range(info)
        case inspect.FloatType():
            return "a number" + _range(info)
        case inspect.StrType():
            if info.pattern is not None:
                return PATTERNS.get(info.pattern, f"text matching {info.pattern}")
            return "text that is not empty" if info.min_length else "text"
        case inspect.VarTupleType(item_type=inspect.LiteralType() as word):
            return "a list of any of " + ", ".join(f'"{value}"' for value in word.values)
        case inspect.VarTupleType():
            return f"a list of {_in_words(info.item_type)}"
        case inspect.DictType(value_type=inspect.DictType()):
            return "a table of tables"
        case inspect.DictType(value_type=inspect.AnyType()):
            return "a table"
        case inspect.DictType(value_type=inspect.FloatType() as number):
            return "a table of numbers" + _range(number)
        case inspect.DictType():
            return f"a table of {_in_words(info.value_type)}"
    raise AssertionError(f"no words for {info!r}")  # a settings field of a new kind needs a case above


def _range(info: inspect.IntType | inspect.FloatType) -> str:
    lowest = info.ge if info.ge is not None else info.gt
    if lowest is None:
        return "" if info.le is None else f" up to {info.le:g}"
    if info.gt is not None:
        return f" above {info.gt:g}" + _ceiling(info)
    return f" from {_plain(lowest)}" + (" up" if info.le is None else f" to {_plain(info.le)}")


def _ceiling(info: inspect.IntType | inspect.FloatType) -> str:
    if info.lt is not None:
        return f", below {_plain(info.lt)}"
    return "" if info.le is None else f", at most {_plain(info.le)}"


def _plain(bound: float) -> str:
    return str(int(bound)) if bound == int(bound) else str(bound)


def _is_short_word(annotation: Any) -> bool:
    info = inspect.type_info(annotation)
    while isinstance(info, inspect.Metadata):
        info = info.type
    return isinstance(info, inspect.IntType | inspect.FloatType | inspect.BoolType | inspect.LiteralType)
