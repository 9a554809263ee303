"""A long event of a stream as several short ones that say the same, so that no look at one takes long."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from heterodyne.safety.texts import OPAQUE_ANYWHERE, SAID_BY_API

AT_ONCE: Final = frozenset({"id", "name", "index", *SAID_BY_API})  # members that clients take whole
Json = dict[str, Any]

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def sliced(data: bytes, chars_max: int) -> list[bytes]:
    """The events that say it, with at most so many characters in each; itself where it has no more."""
    try:
        event = _decode(data)
    except (ValueError, RecursionError):
        return [data]  # whoever looks at it says so
    choices = event.get("choices") if type(event) is dict else None
    if type(choices) is not list:
        return [data]
    shorten = _Shorten(chars_max)
    rests: list[tuple[object, str, str]] = []
    ends: list[Json] = []
    for choice in choices:
        if type(choice) is dict:
            delta = choice.get("delta")
            holder, path = (delta, "") if type(delta) is dict else (choice, "")
            rests += [(choice.get("index", 0), at, rest) for at, rest in shorten.texts(holder, path)]
    if not rests:
        return [data]
    envelope = {name: value for name, value in event.items() if name not in {"choices", "usage"}}
    for choice in choices:
        if type(choice) is dict and choice.get("finish_reason") is not None:
            ends.append({"index": choice.get("index", 0), **_nothing(choice), "finish_reason": choice["finish_reason"]})
            choice["finish_reason"] = None
    made = [_encode({**envelope, "choices": choices})]
    for index, path, rest in rests:
        for start in range(0, len(rest), chars_max):
            said = grown_by(path, rest[start : start + chars_max])
            made.append(_encode({**envelope, "choices": [{"index": index, **said, "finish_reason": None}]}))
    if ends or event.get("usage") is not None:
        usage = {"usage": event["usage"]} if "usage" in event else {}
        made.append(_encode({**envelope, "choices": ends, **usage}))
    return made


def grown_by(path: str, text: str) -> Json:
    """The members of a choice by which a text at a path such as `tool_calls[0].function.arguments` grows."""
    return {"text": text} if path == "text" else {"delta": _nested(path, text)}


def _nothing(choice: Json) -> Json:
    return {"delta": {}} if "delta" in choice else {"text": ""}


class _Shorten:
    """Leaves the first characters of one event's texts."""

    def __init__(self, chars_max: int) -> None:
        self._left = chars_max

    def texts(self, holder: Json, path: str) -> Iterator[tuple[str, str]]:
        """Where the others grow, and by what."""
        for name, value in holder.items():
            if type(value) is str:
                if name not in AT_ONCE and name not in OPAQUE_ANYWHERE:
                    left = self._left
                    self._left = max(0, left - len(value))
                    if len(value) > left:
                        holder[name] = value[:left]
                        yield path + name, value[left:]
            elif type(value) is dict:
                yield from self.texts(value, f"{path}{name}.")
            elif type(value) is list:
                for number, item in enumerate(value):
                    if type(item) is dict:
                        yield from self.texts(item, f"{path}{name}[{item.get('index', number)}].")


def _nested(path: str, text: str) -> Json:
    value: Any = text
    for step in reversed(path.split(".")):
        name, bracket, number = step.partition("[")
        if bracket:
            value = [{"index": int(number[:-1]), **value}]
        value = {name: value}
    assert isinstance(value, dict)
    return value
