"""The items of a Responses conversation as a chat's turns. What no engine can be told is refused by its path."""

from typing import Any, Final

from heterodyne.domain.errors import InvalidField
from heterodyne.gateway.dialects.chat_turns import asked_turn, said_turn
from heterodyne.gateway.dialects.responses_fields import InputItem, ItemPart, ResponsesFields
from heterodyne.gateway.dialects.responses_thoughts import read_sealed
from heterodyne.gateway.dialects.responses_tools import custom_arguments, in_namespace

Json = dict[str, Any]

SYSTEM_ROLES: Final = ("system", "developer")


def chat_messages(fields: ResponsesFields) -> list[Json]:
    """The conversation, with the instructions first."""
    turns = ChatTurns(fields.instructions)
    if isinstance(fields.input, str):
        turns.ask([{"type": "text", "text": fields.input}])
    else:
        for number, item in enumerate(fields.input):
            turns.add(item, f"input[{number}]")
    return turns.ended()


class ChatTurns:
    """Gathers items: what the model thinks, says and calls one after the other is one turn of a chat."""

    def __init__(self, instructions: str | None) -> None:
        # Many templates know one system message, at the beginning.
        self._system = [instructions] if instructions else []
        self._messages: list[Json] = []
        self._called: set[str] = set()
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._calls: list[Json] = []

    def add(self, item: InputItem, path: str) -> None:
        """The next item."""
        match item.type:
            case "message":
                self._say(item, path)
            case "reasoning":
                self._thoughts.append(_thoughts(item, f"{path}.content"))
            case "function_call" | "custom_tool_call":
                self._call(item)
            case "function_call_output" | "custom_tool_call_output":
                self._result(item, path)
            case _:
                raise InvalidField(
                    f"{path}.type: an item of type {item.type!r} cannot be told to the engines here.",
                    param=f"{path}.type",
                )

    def ask(self, parts: list[Json]) -> None:
        """What the user says."""
        self._close()
        self._messages.append(asked_turn(parts))

    def ended(self) -> list[Json]:
        """All of it."""
        self._close()
        system = [{"role": "system", "content": "\n\n".join(self._system)}] if self._system else []
        messages = system + self._messages
        if not messages:
            raise InvalidField("input: nothing is said.", param="input")
        return messages

    def _say(self, item: InputItem, path: str) -> None:
        if item.role is None:
            raise InvalidField(f"{path}.role: who says it is expected.", param=f"{path}.role")
        where = f"{path}.content"
        if item.role == "assistant":
            if self._calls:
                self._close()  # words behind calls are a turn of their own
            self._texts.append(_words(item.content, where))
        elif item.role in SYSTEM_ROLES:
            self._close()
            text = _words(item.content, where)
            if self._messages:
                self._messages.append({"role": "system", "content": text})
            else:
                self._system.append(text)
        elif isinstance(item.content, list):
            self.ask([_part(part, f"{where}[{number}]") for number, part in enumerate(item.content)])
        else:
            self.ask([{"type": "text", "text": item.content or ""}])

    def _call(self, item: InputItem) -> None:
        self._called.add(item.call_id)
        arguments = custom_arguments(item.input) if item.type == "custom_tool_call" else item.arguments
        name = in_namespace(item.namespace, item.name) if item.namespace else item.name
        function = {"name": name, "arguments": arguments}
        self._calls.append({"id": item.call_id, "type": "function", "function": function})

    def _result(self, item: InputItem, path: str) -> None:
        if item.call_id not in self._called:
            raise InvalidField(
                f"{path}.call_id: no earlier call has the id {item.call_id[:100]!r}.", param=f"{path}.call_id"
            )
        self._close()
        text = _words(item.output, f"{path}.output")
        self._messages.append({"role": "tool", "tool_call_id": item.call_id, "content": text})

    def _close(self) -> None:
        """What the model said so far is a turn."""
        if self._texts or self._thoughts or self._calls:
            self._messages.append(said_turn(self._texts, self._thoughts, self._calls))
            self._texts, self._thoughts, self._calls = [], [], []


def _words(content: str | list[ItemPart] | None, path: str) -> str:
    """Words alone."""
    if content is None or isinstance(content, str):
        return content or ""
    texts = []
    for number, part in enumerate(content):
        if part.type not in ("input_text", "output_text", "refusal", "text"):
            raise _unknown(part, f"{path}[{number}]")
        texts.append(part.refusal if part.type == "refusal" else part.text)
    return "".join(texts)


def _part(part: ItemPart, where: str) -> Json:
    match part.type:
        case "input_text" | "text" | "output_text":
            return {"type": "text", "text": part.text}
        case "input_image" if part.image_url:
            picture = {"url": part.image_url} if part.detail is None else {"url": part.image_url, "detail": part.detail}
            return {"type": "image_url", "image_url": picture}
        case "input_audio" if part.input_audio:
            return {"type": "input_audio", "input_audio": part.input_audio}
        case "input_file" if part.file_data:
            return {"type": "file", "file": {"filename": part.filename or "", "file_data": part.file_data}}
    raise _unknown(part, where)


def _thoughts(item: InputItem, where: str) -> str:
    """As they were told, or sealed."""
    if isinstance(item.content, list):
        if any(part.type != "reasoning_text" for part in item.content):
            raise InvalidField(f"{where}: parts of the type `reasoning_text` are expected.", param=where)
        return "".join(part.text for part in item.content)
    return read_sealed(item.encrypted_content, where) if item.encrypted_content else ""


def _unknown(part: ItemPart, where: str) -> InvalidField:
    if part.file_id or part.file_url:
        return InvalidField(f"{where}: files are expected in the body, as `file_data` or a data URL.", param=where)
    return InvalidField(
        f"{where}.type: a part of type {part.type!r} cannot be told to the engines here.", param=f"{where}.type"
    )
