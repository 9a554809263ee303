"""One inference request, in the form every client dialect produces and every engine dialect consumes."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

CHARS_PER_TOKEN_MAX = 16  # of whole prompts; no tokenizer does better on any text that people send


class Operation(StrEnum):
    """What the client asks for; engines map it to a path of their own."""

    CHAT = "chat"
    COMPLETION = "completion"
    EMBEDDING = "embedding"
    TOKENIZE = "tokenize"
    DETOKENIZE = "detokenize"
    INFER = "infer"  # tensors in, tensors out

    __hash__ = str.__hash__  # that of enums is written in Python, and every request is looked up by this


class PromptBytes(Protocol):
    """The bytes that stand for a prompt as the engine will render it, made when somebody compares prompts."""

    @property
    def whole_bytes(self) -> int:
        """How many the whole prompt has, where `whole` gives only its beginning; 0: it gives all."""
        ...

    def whole(self) -> bytes:
        """All of it; a longer conversation begins with the bytes of the shorter."""
        ...

    def opening(self) -> bytes:
        """What stays the same in every turn of a conversation, and tells it from others."""
        ...


class Request(Struct, frozen=True, kw_only=True, gc=False):
    """What routing, admission and engines need to know; the rest stays in `body` as the client sent it."""

    id: str
    operation: Operation
    model: str
    body: bytes
    model_version: str | None = None  # of an `INFER`, in the engine's words; None: the engine chooses
    stream: bool = False
    wants_usage: bool = False  # the client asked for a usage chunk at the end of its stream
    has_stream_options: bool = False  # the body has that member, whatever is in it
    prompt: PromptBytes | None = None  # None: prompts of this operation are not compared
    user: str = ""  # whom the client says it asks for
    private_fields: Sequence[str] = ()  # by path, those of one engine's own: it is asked only where they pass
    prompt_chars: int = 0  # of all that the model may be shown, as JSON in UTF-8; of the body where that is tensors
    prompt_tokens: int | None = None  # exact when the client sent token ids, else unknown at the door
    output_tokens_max: int | None = None  # of one sequence; None: the engine's own limit
    choices: int = 1  # of each prompt, in the answer
    prompts: int = 1
    sequences: int = 1  # that are generated: for each prompt, as many as its best choices are taken from
    dimensions: int | None = None  # of the vectors that are wanted; None: as many as the model's have
    has_logprobs: bool = False  # the client asks for log probabilities, or says that it wants none
    is_large: bool = False  # what is proportional to the body is done beside the worker
    changes: dict[str, bytes] | None = None  # of a large one: members to set, in JSON, when it is sent
    deadline_s: float = 0.0  # on the gateway's monotonic clock


class Usage(Struct, frozen=True, kw_only=True, gc=False):
    """Tokens of one answer, as the engine reported or as we estimated."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int | None = None  # None: the engine does not say
    reasoning_tokens: int = 0  # of the completion, those that are thoughts and not the answer
    is_estimated: bool = False
