"""What clients may ask the JAX engine; what it cannot do is refused by name, never ignored."""

from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from heterodyne.domain.errors import InvalidField, MalformedJson

TOP_LOGPROBS_MAX = 20
STOPS_MAX = 16
N_MAX = 16


class JaxStreamOptions(Struct):
    """What a stream carries besides its tokens."""

    include_usage: bool = False
    continuous_usage_stats: bool = False


class _Asked(Struct, kw_only=True):
    model: str | None = None
    max_tokens: Annotated[int, Meta(ge=1)] | None = None
    temperature: Annotated[float, Meta(ge=0, le=10)] = 1.0
    top_p: Annotated[float, Meta(gt=0, le=1)] = 1.0
    top_k: Annotated[int, Meta(ge=-1)] = 0
    min_p: Annotated[float, Meta(ge=0, le=1)] = 0.0
    seed: int | None = None
    n: Annotated[int, Meta(ge=1, le=N_MAX)] = 1
    stop: str | Annotated[list[str], Meta(max_length=STOPS_MAX)] | None = None
    stop_token_ids: Annotated[list[int], Meta(max_length=STOPS_MAX)] = []
    ignore_eos: bool = False
    stream: bool = False
    stream_options: JaxStreamOptions | None = None
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    repetition_penalty: float = 1.0
    logit_bias: dict[str, float] | None = None
    min_tokens: int = 0
    response_format: dict[str, Any] | None = None
    cache_salt: str = ""

    def _refuse_the_rest(self) -> None:
        kind = (self.response_format or {}).get("type", "text")
        for name, is_wanted in (
            ("presence_penalty", self.presence_penalty != 0),
            ("frequency_penalty", self.frequency_penalty != 0),
            ("repetition_penalty", self.repetition_penalty != 1),
            ("logit_bias", bool(self.logit_bias)),
            ("min_tokens", self.min_tokens > 0 and not self.ignore_eos),
            ("response_format", kind != "text"),
        ):
            if is_wanted:
                raise InvalidField(f"{name}: the JAX engine cannot do this; leave it out", param=name)


class JaxChatRequest(_Asked, kw_only=True):
    """`POST /v1/chat/completions`"""

    messages: Annotated[list[dict[str, Any]], Meta(min_length=1)]
    max_completion_tokens: Annotated[int, Meta(ge=1)] | None = None
    logprobs: bool = False
    top_logprobs: Annotated[int, Meta(ge=0, le=TOP_LOGPROBS_MAX)] = 0
    add_generation_prompt: bool = True
    continue_final_message: bool = False
    tools: list[Any] | None = None

    def check(self) -> None:
        """Raise what it cannot do."""
        self._refuse_the_rest()
        if self.tools:
            raise InvalidField("tools: the JAX engine has no tools; leave them out", param="tools")


class JaxCompletionRequest(_Asked, kw_only=True):
    """`POST /v1/completions`"""

    prompt: str | list[str | int | list[int]]
    logprobs: Annotated[int, Meta(ge=0, le=TOP_LOGPROBS_MAX)] | None = None
    echo: bool = False
    suffix: str | None = None
    add_special_tokens: bool = True

    def check(self) -> None:
        """Raise what it cannot do."""
        self._refuse_the_rest()
        for name, is_wanted in (("echo", self.echo), ("suffix", bool(self.suffix))):
            if is_wanted:
                raise InvalidField(f"{name}: the JAX engine cannot do this; leave it out", param=name)


class JaxTokenizeRequest(Struct):
    """`POST /tokenize`"""

    prompt: str | None = None
    messages: list[dict[str, Any]] | None = None
    add_special_tokens: bool = True
    add_generation_prompt: bool = True


class JaxDetokenizeRequest(Struct):
    """`POST /detokenize`"""

    tokens: list[int]


Body = TypeVar("Body")


def read_body(body: bytes | None, kind: type[Body]) -> Body:
    """Raises with what is wrong."""
    try:
        return msgspec.json.decode(body or b"{}", type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise (InvalidField if isinstance(error, msgspec.ValidationError) else MalformedJson)(str(error)) from error


def text_messages(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages whose content is text alone; parts are put together, and pictures refused."""
    return [message | {"content": _text_of(message.get("content"))} for message in messages]


def _text_of(content: object) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None for part in parts]
    if not all(isinstance(text, str) for text in texts):
        raise InvalidField("messages.content: the JAX engine reads text alone", param="messages")
    return "".join(text for text in texts if isinstance(text, str))
