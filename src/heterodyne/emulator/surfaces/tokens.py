"""`/tokenize` and `/detokenize` as vLLM and SGLang have them."""

from msgspec import Struct

from heterodyne.domain.errors import InvalidField
from heterodyne.emulator import tokenizer
from heterodyne.emulator.engine import EmulatedEngine
from heterodyne.emulator.request_body import EmulatorMessage, EmulatorRequest, chat_prompt
from heterodyne.emulator.response import EmulatorResponse, json_response, read
from heterodyne.wire.message import HttpRequest


class TokenizeRequest(Struct):
    """A text, or a conversation as the model would see it."""

    prompt: str | None = None
    messages: list[EmulatorMessage] | None = None


class DetokenizeRequest(Struct):
    """Token ids to turn into text."""

    tokens: list[int]


def tokenize(engine: EmulatedEngine, request: HttpRequest) -> EmulatorResponse:
    """Numbers and how many they are."""
    asked = read(request, TokenizeRequest)
    if asked.messages is not None:
        text = chat_prompt(EmulatorRequest(model=engine.order.served_model, messages=asked.messages)).text
    elif asked.prompt is not None:
        text = asked.prompt.encode()
    else:
        raise InvalidField("give a prompt or messages", param="prompt")
    ids = tokenizer.token_ids(text)
    return json_response(
        {"count": len(ids), "max_model_len": engine.order.context_tokens, "tokens": ids, "token_strs": None}
    )


def detokenize(_: EmulatedEngine, request: HttpRequest) -> EmulatorResponse:
    """The text of numbers."""
    return json_response({"prompt": text_of(read(request, DetokenizeRequest).tokens)})


def text_of(ids: list[int]) -> str:
    """The last token of a text may be short: what fills it up is not text."""
    return tokenizer.from_token_ids(ids).rstrip(b"\0").decode(errors="replace")
