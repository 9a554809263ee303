"""Gemini's bodies in either spelling: its API takes camel case and underscores, and Google's client mixes them."""

from functools import cache
from typing import Any, Final

import msgspec
from msgspec import inspect

from heterodyne.gateway.dialects.body import Shape, convert, decode

UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def decode_either(decoder: "msgspec.json.Decoder[Shape]", body: bytes) -> Shape:
    """Decode or raise the caller's error."""
    try:
        return decoder.decode(body)
    except UNREADABLE:
        pass
    try:
        value = msgspec.json.decode(body)
    except UNREADABLE:
        return decode(decoder, body)  # which says what is wrong
    # Only what has a type here is spelled anew: schemas and arguments have names of the caller's.
    shape: Any = decoder.type
    return convert(decoder.type, _in_camel_case(value, _type_of(shape)))


_type_of = cache(inspect.type_info)


def _in_camel_case(value: Any, kind: inspect.Type) -> Any:
    match kind:
        case inspect.StructType() if isinstance(value, dict):
            names = {field.name: field for field in kind.fields} | {field.encode_name: field for field in kind.fields}
            return dict(_member(name, one, names.get(name), value) for name, one in value.items())
        case inspect.ListType() if isinstance(value, list):
            return [_in_camel_case(one, kind.item_type) for one in value]
        case inspect.UnionType():
            for one in kind.types:
                value = _in_camel_case(value, one)
    return value


def _member(name: str, value: Any, field: inspect.Field | None, beside: dict[str, Any]) -> tuple[str, Any]:
    if field is None or (name != field.encode_name and field.encode_name in beside):
        return name, value  # unknown, or said twice: refused by this name
    return field.encode_name, _in_camel_case(value, field.type)
