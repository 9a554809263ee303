"""Answers as bytes in OpenAI's two generating dialects; what does not change within an answer is encoded once."""

from typing import Protocol

import msgspec
from msgspec import Struct

PLACE = "\x00"  # where a token goes; it cannot occur in a name
DONE = b"data: [DONE]\n\n"


class EmulatorUsage(Struct, frozen=True, kw_only=True):
    """The tokens of one answer."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int

    def fields(self) -> dict[str, object]:
        """As the API spells them."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": self.cached_tokens},
        }


class AnswerFormat(Protocol):
    """One dialect's answer to one request."""

    def opening(self, index: int) -> bytes:
        """The event before the first token; empty where the dialect has none."""
        ...

    def token(self, index: int, text: bytes) -> bytes: ...
    def closing(self, index: int, reason: str, **more: object) -> bytes: ...
    def usage(self, usage: EmulatorUsage, **more: object) -> bytes: ...
    def whole(self, texts: list[bytes], reasons: list[str], usage: EmulatorUsage, **more: object) -> bytes: ...


class ChatFormat:
    """`/v1/chat/completions`"""

    def __init__(self, *, request_id: str, model: str, created: int, choices: int) -> None:
        self._about = {"id": f"chatcmpl-{request_id}", "created": created, "model": model}
        self._tokens = [self._frame(index, {"content": PLACE}) for index in range(choices)]

    def opening(self, index: int) -> bytes:
        return self._event([{"index": index, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}])

    def token(self, index: int, text: bytes) -> bytes:
        before, after = self._tokens[index]
        return before + text + after

    def closing(self, index: int, reason: str, **more: object) -> bytes:
        return self._event([{"index": index, "delta": {}, "finish_reason": reason}], **more)

    def usage(self, usage: EmulatorUsage, **more: object) -> bytes:
        return self._event([], usage=usage.fields(), **more)

    def whole(self, texts: list[bytes], reasons: list[str], usage: EmulatorUsage, **more: object) -> bytes:
        choices = [
            {
                "index": index,
                "message": {"role": "assistant", "content": text.decode(), "refusal": None},
                "logprobs": None,
                "finish_reason": reason,
            }
            for index, (text, reason) in enumerate(zip(texts, reasons, strict=True))
        ]
        answer = {**self._about, "object": "chat.completion", "choices": choices, "usage": usage.fields()}
        return msgspec.json.encode({**answer, **more})

    def _frame(self, index: int, delta: dict[str, str]) -> tuple[bytes, bytes]:
        return _split(self._event([{"index": index, "delta": delta, "logprobs": None, "finish_reason": None}]))

    def _event(self, choices: list[dict[str, object]], **more: object) -> bytes:
        return _event({**self._about, "object": "chat.completion.chunk", "choices": choices, **more})


class CompletionFormat:
    """`/v1/completions`"""

    def __init__(self, *, request_id: str, model: str, created: int, choices: int) -> None:
        self._about = {"id": f"cmpl-{request_id}", "object": "text_completion", "created": created, "model": model}
        self._tokens = [_split(self._choice(index, PLACE, None)) for index in range(choices)]

    def opening(self, index: int) -> bytes:
        return b""

    def token(self, index: int, text: bytes) -> bytes:
        before, after = self._tokens[index]
        return before + text + after

    def closing(self, index: int, reason: str, **more: object) -> bytes:
        return self._choice(index, "", reason, **more)

    def usage(self, usage: EmulatorUsage, **more: object) -> bytes:
        return _event({**self._about, "choices": [], "usage": usage.fields(), **more})

    def whole(self, texts: list[bytes], reasons: list[str], usage: EmulatorUsage, **more: object) -> bytes:
        choices = [
            {"index": index, "text": text.decode(), "logprobs": None, "finish_reason": reason}
            for index, (text, reason) in enumerate(zip(texts, reasons, strict=True))
        ]
        return msgspec.json.encode({**self._about, "choices": choices, "usage": usage.fields(), **more})

    def _choice(self, index: int, text: str, reason: str | None, **more: object) -> bytes:
        choice = {"index": index, "text": text, "logprobs": None, "finish_reason": reason}
        return _event({**self._about, "choices": [choice], **more})


def _event(fields: dict[str, object]) -> bytes:
    return b"data: " + msgspec.json.encode(fields) + b"\n\n"


def _split(event: bytes) -> tuple[bytes, bytes]:
    before, _, after = event.partition(b"\\u0000")
    return before, after
