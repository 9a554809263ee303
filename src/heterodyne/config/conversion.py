"""One given value becomes the type its setting declares, or a sentence about why it cannot."""

import math
from typing import Annotated, Any, get_args, get_origin

import msgspec
from msgspec import Struct

from heterodyne.config.fields import Field, toml_key
from heterodyne.config.wording import expected, got, type_in_words

ABSENT = ("", "null")  # "absent" in the environment and in flags, which hold only text


class Misfit(Struct, frozen=True, kw_only=True):
    """Why a value was refused; `place` is where in a list or table, such as `[2]`, and empty for the whole value."""

    place: str = ""
    message: str


class Converted(Struct, frozen=True, kw_only=True):
    """A value of the declared type, or the misfits that kept it from becoming one."""

    value: object = None
    misfits: tuple[Misfit, ...] = ()


def convert(field: Field, value: object, *, is_text: bool) -> Converted:
    """Convert one value; with `is_text` it came from a flag or the environment and must be parsed first."""
    if field.is_optional and (value is None or (is_text and value in ABSENT)):
        return Converted(value=None)
    if is_text and isinstance(value, str) and _is_table(field.type):
        value = _from_json(value)
        is_text = False
    if _is_table(field.type) and isinstance(value, dict):
        return _each_entry(field, value)
    item_type = _item_type(field.type)
    if item_type is None:
        return _one(field.type, value, is_text=is_text, words=expected(field))
    if is_text and isinstance(value, str):
        value = _list_from_text(value)
    if not isinstance(value, list | tuple):
        message = f"expected {expected(field)}, got {got(field.type, value)}"
        return Converted(misfits=(Misfit(message=message),))
    return _each_item(item_type, value)


def _is_table(annotation: Any) -> bool:
    return get_origin(_base(annotation)) is dict


def _item_type(annotation: Any) -> Any | None:
    base = _base(annotation)
    return get_args(base)[0] if get_origin(base) is tuple else None


def _base(annotation: Any) -> Any:
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _list_from_text(text: str) -> object:
    if text.lstrip().startswith("["):
        return _from_json(text)
    return [part.strip() for part in text.split(",") if part.strip()]


def _from_json(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text  # refused as text where a list or a table was expected


def _each_entry(field: Field, entries: dict[str, object]) -> Converted:
    _key, entry_type = get_args(_base(field.type))
    words = type_in_words(entry_type)
    judged = {key: _one(entry_type, entry, is_text=False, words=words) for key, entry in entries.items()}
    misfits = tuple(
        Misfit(place=f".{toml_key(key)}", message=misfit.message)
        for key, entry in judged.items()
        for misfit in entry.misfits
    )
    return Converted(misfits=misfits) if misfits else Converted(value={key: one.value for key, one in judged.items()})


def _each_item(item_type: Any, items: list[object] | tuple[object, ...]) -> Converted:
    words = type_in_words(item_type)
    judged = [_one(item_type, item, is_text=False, words=words) for item in items]
    misfits = tuple(
        Misfit(place=f"[{index}]", message=misfit.message)
        for index, item in enumerate(judged)
        for misfit in item.misfits
    )
    return Converted(misfits=misfits) if misfits else Converted(value=tuple(item.value for item in judged))


def _one(annotation: Any, value: object, *, is_text: bool, words: str) -> Converted:
    try:
        converted = msgspec.convert(value, annotation, strict=not is_text)
    except msgspec.ValidationError:
        return Converted(misfits=(Misfit(message=f"expected {words}, got {got(annotation, value)}"),))
    if isinstance(converted, float) and not math.isfinite(converted):
        return Converted(misfits=(Misfit(message=f"expected {words}, got {converted}"),))
    return Converted(value=converted)
