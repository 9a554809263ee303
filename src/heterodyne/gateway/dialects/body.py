"""JSON bodies to typed structs, with errors that point at the offending field.

Names and counts are bounded here, so that no value is a burden by its length alone.
"""

import re
from collections.abc import Callable
from typing import Annotated, Final, TypeVar

import msgspec
from msgspec import Meta

from heterodyne.domain.errors import CallerError, InvalidField, MalformedJson
from heterodyne.domain.request import Request
from heterodyne.gateway.settings import GatewaySettings

Shape = TypeVar("Shape")
Reader = Callable[[bytes, str, float, GatewaySettings], Request]  # body, request id, deadline
LongReader = Callable[[bytes, str, float, GatewaySettings], Request | None]
ModelName = Annotated[str, Meta(max_length=256)]
Name = Annotated[str, Meta(max_length=512)]  # of users, functions, calls: what clients call things
Word = Annotated[str, Meta(max_length=64)]  # a kind among a few
StopText = Annotated[str, Meta(max_length=1024)]
BIASES_MAX: Final = 16384  # tokens that `logit_bias` may name
STOPS_MAX: Final = 64
TENSORS_MAX: Final = 1024
DIMENSIONS_MAX: Final = 64
SHOWN_CHARS: Final = 200  # of either end of a message
_AT: Final = re.compile(r"^(?P<what>.*?) - at `(?P<in_key>key in )?\$(?P<path>[^`]*)`$", re.DOTALL)


def decode(decoder: "msgspec.json.Decoder[Shape]", body: bytes | msgspec.Raw) -> Shape:
    """Decode or raise the caller's error."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise _invalid(str(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MalformedJson(f"The body is not valid JSON: {error}") from error
    except RecursionError as error:
        raise MalformedJson("The body is nested too deeply.") from error


def convert(shape: type[Shape], value: object) -> Shape:
    """The same of JSON that is decoded already."""
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as error:
        raise _invalid(str(error)) from error


def check_count(field: str, things: str, count: int, most: int) -> None:
    """Raise where there are more of them than there may be."""
    if count > most:
        raise InvalidField(f"{field}: {count} {things}; the limit is {most}.", param=field)


def _invalid(message: str) -> CallerError:
    if len(message) > 2 * SHOWN_CHARS:  # it repeats what the client sent, which may be nearly all of the body
        message = f"{message[:SHOWN_CHARS]}…{message[-SHOWN_CHARS:]}"
    match = _AT.match(message)
    if match is None:
        return InvalidField(_sentence(message), param=_missing_field(message))
    path = match["path"].removeprefix(".")
    missing = _missing_field(match["what"])
    if missing is not None:
        path = f"{path}.{missing}" if path else missing
    where = f"{path}: " if path else "The body: "
    return InvalidField(where + match["what"][:1].lower() + match["what"][1:] + ".", param=path or None)


def _missing_field(what: str) -> str | None:
    match = re.match(r"Object missing required field `([^`]+)`", what)
    return match[1] if match else None


def _sentence(message: str) -> str:
    return message if message.endswith(".") else message + "."
