"""A request body as the emulator understands it: how long it is, what it shares with others, what it wants back."""

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from heterodyne.domain.errors import InvalidField, MalformedJson
from heterodyne.emulator import tokenizer
from heterodyne.emulator.kv_exchange import KvTransferParams

OUTPUT_TOKENS_DEFAULT = 16  # of a completion without a length, as OpenAI has it


class EmulatorStreamOptions(Struct):
    """What a stream carries besides its tokens."""

    include_usage: bool = False


class EmulatorMessagePart(Struct):
    """A piece of a message; only text counts."""

    text: str = ""


class EmulatorMessage(Struct):
    """One message of a chat."""

    role: str
    content: str | list[EmulatorMessagePart] | None = None


class EmulatorRequest(Struct):
    """The fields we act on; all others are taken and ignored, as engines do with what does not concern them."""

    model: str
    messages: list[EmulatorMessage] | None = None
    prompt: str | list[str | int | list[int]] | None = None
    max_tokens: Annotated[int, Meta(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Meta(ge=1)] | None = None
    min_tokens: int = 0
    ignore_eos: bool = False
    n: Annotated[int, Meta(ge=1, le=64)] = 1
    stream: bool = False
    stream_options: EmulatorStreamOptions | None = None
    continue_final_message: bool = False
    cache_salt: str = ""
    id_slot: int | None = None  # of llama.cpp's
    kv_transfer_params: KvTransferParams | None = None
    lora_path: str | None = None  # the adapter's name, in SGLang's requests


class EmulatorPrompt(Struct, frozen=True, kw_only=True):
    """One sequence to be answered."""

    text: bytes  # the rendered prompt
    key: int  # of the conversation, which decides the answer
    continued_tokens: int = 0  # of the answer, when the request continues one


_decode = msgspec.json.Decoder(EmulatorRequest).decode


def read_body(body: bytes) -> EmulatorRequest:
    """Raises with what is wrong."""
    try:
        return _decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise (InvalidField if isinstance(error, msgspec.ValidationError) else MalformedJson)(str(error)) from error


def chat_prompt(body: EmulatorRequest) -> EmulatorPrompt:
    """A conversation, rendered so that the next turn's prompt begins with this one's prompt and answer."""
    if not body.messages:
        raise InvalidField("messages: give at least one", param="messages")
    last = body.messages[-1]
    if not (body.continue_final_message and last.role == "assistant"):
        text = b"".join(map(_render, body.messages)) + b"<|assistant|>"
        return EmulatorPrompt(text=text, key=tokenizer.key_of(text))
    before = b"".join(map(_render, body.messages[:-1])) + b"<|assistant|>"
    continued = _text(last)
    return EmulatorPrompt(
        text=before + continued, key=tokenizer.key_of(before), continued_tokens=tokenizer.count(continued)
    )


def completion_prompts(body: EmulatorRequest) -> list[EmulatorPrompt]:
    """One for each prompt."""
    prompt = body.prompt
    if prompt is None or prompt == []:
        raise InvalidField("prompt: give a text, texts, or token ids", param="prompt")
    if isinstance(prompt, str):
        texts = [prompt.encode()]
    elif isinstance(prompt[0], int):
        texts = [tokenizer.from_token_ids([one for one in prompt if isinstance(one, int)])]
    else:
        texts = [_prompt_text(one) for one in prompt]
    return [EmulatorPrompt(text=text or b" ", key=tokenizer.key_of(text)) for text in texts]


def _prompt_text(prompt: str | int | list[int]) -> bytes:
    if isinstance(prompt, int):
        raise InvalidField("prompt: texts and token ids are mixed", param="prompt")
    return prompt.encode() if isinstance(prompt, str) else tokenizer.from_token_ids(prompt)


def wanted_tokens(body: EmulatorRequest, question: EmulatorPrompt, *, mean: int, room: int) -> tuple[int, bool]:
    """How many tokens the answer has, and whether a limit cut it."""
    limit = body.max_completion_tokens or body.max_tokens
    if limit is None:
        limit = room if body.messages is not None else OUTPUT_TOKENS_DEFAULT
    limit = min(limit, room)
    natural = limit if body.ignore_eos else tokenizer.answer_tokens(question.key, mean) - question.continued_tokens
    wanted = max(natural, body.min_tokens, 1)
    return min(wanted, limit), wanted > limit or body.ignore_eos


def _render(message: EmulatorMessage) -> bytes:
    return b"<|%b|>%b" % (message.role.encode(), _text(message))


def _text(message: EmulatorMessage) -> bytes:
    if isinstance(message.content, list):
        return "".join(part.text for part in message.content).encode()
    return (message.content or "").encode()
