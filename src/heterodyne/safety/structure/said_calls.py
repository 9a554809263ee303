"""The calls of tools in a message, in each of the ways in which OpenAI's API has them."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec


class CallInMessage(NamedTuple):
    """One of them, by the paths of its name and of its arguments."""

    name: str
    arguments: str
    where: str  # of the call
    takes_text: bool = False  # a custom tool's, whose arguments are any text
    member: str = "function.arguments"
    id: str = ""

    @property
    def name_at(self) -> str:
        holder = self.member.rpartition(".")[0]
        return f"{self.where}.{holder}.name" if holder else f"{self.where}.name"

    @property
    def arguments_at(self) -> str:
        return f"{self.where}.{self.member}"


def calls_of(message: Mapping[str, Any], where: str) -> Iterator[CallInMessage]:
    """Every call of one message; what is no call is one without a name."""
    legacy = message.get("function_call")
    if isinstance(legacy, Mapping):
        yield CallInMessage(
            _text(legacy, "name"), _text(legacy, "arguments"), f"{where}.function_call", member="arguments"
        )
    said = message.get("tool_calls")
    for number, one in enumerate(said if isinstance(said, list) else ()):
        place, call = f"{where}.tool_calls[{number}]", one if isinstance(one, Mapping) else {}
        function, custom, id_ = call.get("function"), call.get("custom"), _text(call, "id")
        if isinstance(custom, Mapping):
            name, said_text = _text(custom, "name"), _text(custom, "input")
            yield CallInMessage(name, said_text, place, takes_text=True, member="custom.input", id=id_)
        else:
            function = function if isinstance(function, Mapping) else {}
            yield CallInMessage(_text(function, "name"), _text(function, "arguments"), place, id=id_)


def _text(holder: Mapping[str, Any], name: str) -> str:
    """What is no text, as some engines have arguments, is looked at as it is written."""
    found = holder.get(name)
    if isinstance(found, str):
        return found
    return "" if found is None else msgspec.json.encode(found).decode()
