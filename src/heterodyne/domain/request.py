"""One inference request, in the form every client dialect produces and every engine dialect consumes."""

from collections.abc import Sequence
from typing import Final, Protocol, final

from heterodyne.domain.answer_guard import AnswerGuard
from heterodyne.domain.cache_use import CacheUse
from heterodyne.domain.operation import Operation

CHARS_PER_TOKEN_MAX: Final = 16  # of whole prompts; no tokenizer does better on any text that people send
FIELDS: Final = (
    *("id", "operation", "model", "body", "model_version", "stream", "wants_usage"),
    *("has_stream_options", "prompt", "user", "private_fields", "prompt_chars", "prompt_tokens", "output_tokens_max"),
    *("choices", "prompts", "sequences", "dimensions", "wants_base64", "has_logprobs", "is_large", "changes"),
    *("deadline_s", "received", "not_carried", "is_stored", "stored_id", "media_type", "passes", "kept_share", "guard"),
    *("cache", "cache_salt", "cascade", "cascade_name"),
)


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


@final
class Request:
    """What routing, admission and engines need to know; the rest stays in `body` as the client sent it.

    Whoever has to change something takes a copy.
    """

    __slots__ = FIELDS

    def __init__(
        self,
        *,
        id: str,
        operation: Operation,
        model: str,
        body: bytes,
        model_version: str | None = None,
        stream: bool = False,
        wants_usage: bool = False,
        has_stream_options: bool = False,
        prompt: PromptBytes | None = None,
        user: str = "",
        private_fields: Sequence[str] = (),
        prompt_chars: int = 0,
        prompt_tokens: int | None = None,
        output_tokens_max: int | None = None,
        choices: int = 1,
        prompts: int = 1,
        sequences: int = 1,
        dimensions: int | None = None,
        wants_base64: bool = False,
        has_logprobs: bool = False,
        is_large: bool = False,
        changes: dict[str, bytes] | None = None,
        deadline_s: float = 0.0,
        received: bytes | None = None,
        not_carried: Sequence[str] = (),
        is_stored: bool = False,
        stored_id: str = "",
        media_type: str = "",
        passes: bool = False,
        kept_share: float | None = None,
        cache_salt: str = "",
    ) -> None:
        self.id, self.operation, self.model, self.body = id, operation, model, body
        self.model_version = model_version  # of an `INFER`, in the engine's words; None: the engine chooses
        self.stream, self.wants_usage = stream, wants_usage  # the client asked for a usage chunk at the end of it
        self.has_stream_options = has_stream_options  # the body has that member, whatever is in it
        self.prompt, self.user = prompt, user  # None: prompts of this operation are not compared; for whom it is asked
        self.private_fields = private_fields  # by path, those of one engine's own: it is asked only where they pass
        # Of all that the model may be shown, in UTF-8 as JSON, or as tensors; tokens where the client sent their ids.
        self.prompt_chars, self.prompt_tokens = prompt_chars, prompt_tokens
        self.output_tokens_max = output_tokens_max  # of one sequence; None: the engine's own limit
        self.prompts, self.choices = prompts, choices  # of each prompt, in the answer
        self.sequences = sequences  # that are generated: for each prompt, as many as its best choices are taken from
        self.dimensions, self.wants_base64 = dimensions, wants_base64  # of vectors; None: all that the model's have
        self.has_logprobs = has_logprobs  # the client asks for log probabilities, or says that it wants none
        self.is_large, self.changes = is_large, changes  # read and sent beside the worker, with these members set then
        self.deadline_s = deadline_s  # on the gateway's monotonic clock
        self.received = received  # the client's own body, where that was of another API; None: it is `body`
        self.not_carried = not_carried  # by path, what another API's body says and no engine can be told
        self.is_stored, self.stored_id = is_stored, stored_id  # to be asked for again; its id where it has one already
        self.cache_salt = cache_salt  # what engines keep its prompt's KV apart by; empty: from nobody
        self.media_type = media_type  # of the body; empty: it is JSON
        self.passes = passes  # its answer goes on as it comes, whatever it is: sound, or events that are not a chat's
        self.kept_share = kept_share  # of its turns, that an engine is sent; None: none may be left out to make it fit
        self.guard: AnswerGuard | None = None  # what policies do with its answer; None: no policy is about it
        self.cache: CacheUse | None = None  # whether an answer was kept for it; None: nobody looked
        self.cascade = self.cascade_name = ""  # which model a cascade lets answer, why, and which cascade; or none

    @property
    def received_body(self) -> bytes:
        """The body as its client sent it."""
        return self.body if self.received is None else self.received

    def copied(self) -> "Request":
        """Another one."""
        other = Request(id=self.id, operation=self.operation, model=self.model, body=self.body)
        for name in FIELDS:
            setattr(other, name, getattr(self, name))
        return other


@final
class Usage:
    """Tokens of one answer, as the engine reported or as we estimated."""

    __slots__ = (
        "cache_write_tokens",
        "cached_tokens",
        "completion_tokens",
        "is_estimated",
        "prompt_tokens",
        "reasoning_tokens",
    )

    def __init__(
        self,
        *,
        prompt_tokens: int = 0,
        completion_tokens: int = 0,
        cached_tokens: int | None = None,
        cache_write_tokens: int = 0,
        reasoning_tokens: int = 0,
        is_estimated: bool = False,
    ) -> None:
        self.prompt_tokens = prompt_tokens
        self.completion_tokens = completion_tokens
        self.cached_tokens = cached_tokens  # None: the engine does not say
        self.cache_write_tokens = (
            cache_write_tokens  # of the prompt, those that its provider bills as written to a cache
        )
        self.reasoning_tokens = reasoning_tokens  # of the completion, those that are thoughts and not the answer
        self.is_estimated = is_estimated
