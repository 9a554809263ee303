"""What is read of an OpenAI chat to tell it in the words of another maker's API. The door has checked the rest."""

import re
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from heterodyne.domain.errors import InvalidField

Members = dict[str, Raw]

_PATH: Final = re.compile(r" - at `\$\.?(?P<path>[^`]*)`$")


class AskedPicture(Struct):
    """Where a picture is."""

    url: str = ""
    detail: str | None = None


class AskedFile(Struct):
    """A document in the body, or the name of one that OpenAI has."""

    file_data: str | None = None
    filename: str | None = None


class AskedSound(Struct):
    """A sound in the body."""

    data: str = ""
    format: str = ""


class AskedPart(Struct):
    """One part of a message, of any type."""

    type: str
    text: str = ""
    refusal: str = ""
    image_url: AskedPicture | str | None = None
    file: AskedFile | None = None
    input_audio: AskedSound | None = None


class AskedFunction(Struct):
    """What was called."""

    name: str = ""
    arguments: str = ""


class AskedCall(Struct):
    """One call of an earlier turn."""

    id: str = ""
    type: str = "function"
    function: AskedFunction | None = None
    extra_content: Any = None  # where Google's own OpenAI API keeps the signature of a call


class AskedMessage(Struct):
    """One turn."""

    role: str
    content: str | list[AskedPart] | None = None
    name: str | None = None
    refusal: str | None = None
    tool_calls: list[AskedCall] | None = None
    tool_call_id: str = ""
    function_call: Any = None
    audio: Any = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_signature: str | None = None  # what makes thoughts those of the provider, as our answers have it

    @property
    def thoughts(self) -> str:
        """Engines have two names for them."""
        return self.reasoning_content or self.reasoning or ""


class AskedDeclaration(Struct):
    """A function that may be called; its schema stays as it came."""

    name: str
    description: str | None = None
    parameters: Members | None = None
    strict: bool | None = None


class AskedTool(Struct):
    """One tool."""

    type: str = "function"
    function: AskedDeclaration | None = None


class ChosenFunction(Struct):
    """The one that is to be called."""

    name: str = ""


class AskedChoice(Struct):
    """Which tool is to be called."""

    type: str = "function"
    function: ChosenFunction | None = None


class AskedSchema(Struct):
    """What the answer is to look like."""

    schema: Members | None = None
    name: str | None = None
    description: str | None = None


class AskedFormat(Struct):
    """Text, any JSON, or JSON of a schema."""

    type: str = "text"
    json_schema: AskedSchema | None = None


class AskedChat(Struct):
    """The members that several providers have words for."""

    messages: list[AskedMessage]
    tools: list[AskedTool] | None = None
    tool_choice: str | AskedChoice | None = None
    parallel_tool_calls: bool | None = None
    response_format: AskedFormat | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: str | list[str] | None = None
    reasoning_effort: str | None = None
    user: str | None = None
    safety_identifier: str | None = None

    @property
    def length(self) -> int | None:
        """The newer name wins, as it does at the door."""
        return self.max_completion_tokens or self.max_tokens

    @property
    def stops(self) -> list[str]:
        return [self.stop] if isinstance(self.stop, str) else self.stop or []


_chat = msgspec.json.Decoder(AskedChat).decode
_members = msgspec.json.Decoder(Members).decode


def read_asked(body: bytes) -> tuple[AskedChat, Members]:
    """A chat, and all of its members by name; raises what of it has another form than OpenAI's."""
    try:
        return _chat(body), _members(body)
    except (msgspec.DecodeError, RecursionError) as error:
        message = str(error)
        found = _PATH.search(message)
        path = found["path"] if found else ""
        what = message[: found.start()] if found else message
        raise InvalidField(f"{path or 'The body'}: {what}.", param=path or None) from error


def arguments_object(function: AskedFunction, where: str) -> Raw:
    """A call's arguments as the JSON object that they are."""
    text = function.arguments.strip() or "{}"
    try:
        _members(text)
    except (msgspec.DecodeError, RecursionError) as error:
        path = f"{where}.function.arguments"
        raise InvalidField(f"{path}: JSON of an object is expected.", param=path) from error
    return Raw(text.encode())


def texts_of(message: AskedMessage, where: str) -> list[str]:
    """The words of a message that may have nothing but words."""
    content = message.content
    if isinstance(content, str):
        return [content]
    found = []
    for number, part in enumerate(content or ()):
        if part.type not in ("text", "refusal"):
            raise unknown_part(part, f"{where}.content[{number}]")
        found.append(part.text or part.refusal)
    return found


def unknown_part(part: AskedPart, where: str) -> InvalidField:
    return InvalidField(
        f"{where}.type: a part of type {part.type[:100]!r} cannot be told to the provider of this model.",
        param=f"{where}.type",
    )


def picture_of(part: AskedPart) -> AskedPicture:
    """Some clients give the address alone."""
    picture = part.image_url
    return AskedPicture(url=picture) if isinstance(picture, str) else picture or AskedPicture()


def try_data_url(url: str) -> tuple[str, str] | None:
    """Media type and base64 of a `data:` URL; None: it is another, or not in base64."""
    head, comma, data = url.partition(",")
    if not comma or not head.startswith("data:") or not head.endswith(";base64"):
        return None
    return head[5:-7].partition(";")[0], data
