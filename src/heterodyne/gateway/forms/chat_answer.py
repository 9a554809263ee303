"""What is read of OpenAI's chat answers and events by those who tell them in the words of another API."""

from typing import Any

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import EngineGarbage
from heterodyne.gateway.usage_fields import ReportedUsage


class SaidFunction(Struct):
    """Of a call: its name once, its arguments perhaps in pieces."""

    name: str | None = None
    arguments: str | None = None


class SaidCall(Struct):
    """One call of a tool, or a piece of it."""

    index: int = 0
    id: str | None = None
    function: SaidFunction = msgspec.field(default_factory=SaidFunction)


class SaidMessage(Struct):
    """What the model says, or what one event adds to it."""

    content: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[SaidCall] | None = None

    @property
    def thoughts(self) -> str:
        """Engines have two names for them."""
        return self.reasoning_content or self.reasoning or ""


class SaidLogprobs(Struct):
    """Of the tokens of a message, or of one event's."""

    content: list[msgspec.Raw] | None = None


class SaidChoice(Struct):
    """The answer."""

    index: int = 0
    message: SaidMessage | None = None
    delta: SaidMessage | None = None
    finish_reason: str | None = None
    stop_reason: str | int | None = None  # of vLLM and SGLang: the text that ended it
    logprobs: SaidLogprobs | None = None


class SaidAnswer(Struct):
    """A whole answer, or one event."""

    choices: list[SaidChoice] = []
    usage: ReportedUsage | None = None
    created: int = 0


class SaidCount(Struct):
    """What an engine's tokenizer says."""

    count: int


_decode = msgspec.json.Decoder(SaidAnswer).decode
_decode_count = msgspec.json.Decoder(SaidCount).decode


def read_chat(data: bytes) -> SaidAnswer:
    """Raises EngineGarbage for what is no chat."""
    try:
        return _decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise EngineGarbage("The engine's answer is no chat.") from error


def plain_text_of(said: SaidAnswer) -> str:
    """What an event adds where that is text and nothing else; empty: it may say more."""
    if len(said.choices) != 1 or said.usage is not None:
        return ""
    choice = said.choices[0]
    delta = choice.delta
    if delta is None or choice.finish_reason is not None or choice.logprobs is not None:
        return ""
    has_more = delta.thoughts or delta.refusal or delta.tool_calls
    return "" if has_more else delta.content or ""


def tokens_counted(data: bytes) -> int:
    """Of a prompt; raises EngineGarbage where the engine does not say."""
    try:
        return _decode_count(data).count
    except msgspec.DecodeError as error:
        raise EngineGarbage("The engine does not say how many tokens there are.") from error


def arguments_of(function: SaidFunction) -> dict[str, Any]:
    """Those of a call that is complete; raises EngineGarbage where the model did not keep to JSON."""
    try:
        found = msgspec.json.decode(function.arguments or "{}")
    except msgspec.DecodeError as error:
        raise EngineGarbage("The model called a tool with arguments that are no JSON.") from error
    if not isinstance(found, dict):
        raise EngineGarbage("The model called a tool with arguments that are no object.")
    return found
