"""`/tokenize` and `/detokenize` as vLLM and SGLang have them."""

from typing import TYPE_CHECKING

from msgspec import Struct

from heterodyne.domain.errors import InvalidField
from heterodyne.emulator import pieces
from heterodyne.emulator.page import Page, json_page, read
from heterodyne.emulator.question import Body, Message, chat_question
from heterodyne.wire.message import HttpRequest

if TYPE_CHECKING:
    from heterodyne.emulator.engine import EmulatedEngine


class Tokenizing(Struct):
    """A text, or a conversation as the model would see it."""

    prompt: str | None = None
    messages: list[Message] | None = None


class Tokens(Struct):
    """Numbers to be made text again."""

    tokens: list[int]


def tokenize(engine: "EmulatedEngine", request: HttpRequest) -> Page:
    """Numbers and how many they are."""
    asked = read(request, Tokenizing)
    if asked.messages is not None:
        text = chat_question(Body(model=engine.order.served_model, messages=asked.messages)).text
    elif asked.prompt is not None:
        text = asked.prompt.encode()
    else:
        raise InvalidField("give a prompt or messages", param="prompt")
    ids = pieces.token_ids(text)
    return json_page(
        {"count": len(ids), "max_model_len": engine.order.context_tokens, "tokens": ids, "token_strs": None}
    )


def detokenize(_: "EmulatedEngine", request: HttpRequest) -> Page:
    """The text of numbers."""
    return json_page({"prompt": text_of(read(request, Tokens).tokens)})


def text_of(ids: list[int]) -> str:
    """The last token of a text may be short: what fills it up is not text."""
    return pieces.from_token_ids(ids).rstrip(b"\0").decode(errors="replace")
