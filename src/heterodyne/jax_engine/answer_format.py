"""Answers of the JAX engine as bytes, in OpenAI's two generating dialects as vLLM writes them."""

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec
from msgspec import Struct

DONE = b"data: [DONE]\n\n"


class ToldToken(Struct, frozen=True):
    """A token as clients see it."""

    text: str
    log_probability: float
    top: list[tuple[str, float]]


class JaxUsage(Struct, frozen=True, kw_only=True):
    """The tokens of one request."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int

    def fields(self) -> dict[str, object]:
        """As the API spells them."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
            "completion_tokens": self.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": self.cached_tokens},
        }


class JaxChoice(Struct):
    """One whole answer."""

    text: str
    tokens: list[ToldToken]  # empty where no log-probabilities are asked for
    reason: str


class JaxAnswerFormat(Protocol):
    """One dialect's words for one request."""

    def opening(self, index: int) -> bytes:
        """The event before the first token; empty where the dialect has none."""
        ...

    def piece(self, index: int, text: str, tokens: Sequence[ToldToken], reason: str | None) -> bytes: ...
    def usage(self, usage: JaxUsage) -> bytes: ...
    def whole(self, choices: Sequence[JaxChoice], usage: JaxUsage) -> bytes: ...


class JaxChatFormat:
    """`/v1/chat/completions`"""

    def __init__(self, *, request_id: str, model: str, created: int, has_logprobs: bool) -> None:
        self._about = {"id": f"chatcmpl-{request_id}", "created": created, "model": model}
        self._has_logprobs = has_logprobs

    def opening(self, index: int) -> bytes:
        return self._event([_chunk(index, {"role": "assistant", "content": ""}, None, None)])

    def piece(self, index: int, text: str, tokens: Sequence[ToldToken], reason: str | None) -> bytes:
        return self._event([_chunk(index, {"content": text}, self._logprobs(tokens), reason)])

    def usage(self, usage: JaxUsage) -> bytes:
        return self._event([], usage=usage.fields())

    def whole(self, choices: Sequence[JaxChoice], usage: JaxUsage) -> bytes:
        told: list[dict[str, object]] = [
            {
                "index": index,
                "message": {"role": "assistant", "content": choice.text, "refusal": None, "tool_calls": []},
                "logprobs": self._logprobs(choice.tokens),
                "finish_reason": choice.reason,
                "stop_reason": None,
            }
            for index, choice in enumerate(choices)
        ]
        return msgspec.json.encode(
            {**self._about, "object": "chat.completion", "choices": told, "usage": usage.fields()}
        )

    def _logprobs(self, tokens: Sequence[ToldToken]) -> dict[str, object] | None:
        if not self._has_logprobs:
            return None
        return {
            "content": [
                {
                    **_chat_token(token.text, token.log_probability),
                    "top_logprobs": [_chat_token(text, said) for text, said in token.top],
                }
                for token in tokens
            ]
        }

    def _event(self, choices: list[dict[str, Any]], **more: object) -> bytes:
        return _event({**self._about, "object": "chat.completion.chunk", "choices": choices, **more})


class JaxCompletionFormat:
    """`/v1/completions`"""

    def __init__(self, *, request_id: str, model: str, created: int, has_logprobs: bool) -> None:
        self._about = {"id": f"cmpl-{request_id}", "object": "text_completion", "created": created, "model": model}
        self._has_logprobs = has_logprobs
        self._letters: dict[int, int] = {}  # by choice, those sent before

    def opening(self, index: int) -> bytes:
        return b""

    def piece(self, index: int, text: str, tokens: Sequence[ToldToken], reason: str | None) -> bytes:
        choice = self._choice(index, JaxChoice(text, list(tokens), reason or ""))
        return _event({**self._about, "choices": [choice | {"finish_reason": reason}]})

    def usage(self, usage: JaxUsage) -> bytes:
        return _event({**self._about, "choices": [], "usage": usage.fields()})

    def whole(self, choices: Sequence[JaxChoice], usage: JaxUsage) -> bytes:
        told = [self._choice(index, choice) for index, choice in enumerate(choices)]
        return msgspec.json.encode({**self._about, "choices": told, "usage": usage.fields()})

    def _choice(self, index: int, choice: JaxChoice) -> dict[str, object]:
        logprobs = self._logprobs(index, choice.tokens) if self._has_logprobs else None
        return {
            "index": index,
            "text": choice.text,
            "logprobs": logprobs,
            "finish_reason": choice.reason,
            "stop_reason": None,
        }

    def _logprobs(self, index: int, tokens: Sequence[ToldToken]) -> dict[str, object]:
        at, offsets = self._letters.get(index, 0), list[int]()
        for token in tokens:
            offsets.append(at)
            at += len(token.text)
        self._letters[index] = at
        return {
            "text_offset": offsets,
            "token_logprobs": [token.log_probability for token in tokens],
            "tokens": [token.text for token in tokens],
            "top_logprobs": [{token.text: token.log_probability} | dict(token.top) for token in tokens],
        }


def _chunk(index: int, delta: dict[str, str], logprobs: object, reason: str | None) -> dict[str, Any]:
    return {"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": reason}


def _chat_token(text: str, said: float) -> dict[str, object]:
    return {"token": text, "logprob": said, "bytes": list(text.encode())}


def _event(fields: dict[str, object]) -> bytes:
    return b"data: " + msgspec.json.encode(fields) + b"\n\n"
