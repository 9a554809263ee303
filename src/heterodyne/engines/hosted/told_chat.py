"""OpenAI's chat completions and their chunks, out of what a provider said."""

from typing import Any, Final

import msgspec

Json = dict[str, Any]

DONE: Final = b"[DONE]"
_encode = msgspec.json.Encoder().encode


def told_call(id_: str, name: str, arguments: str) -> Json:
    """One call of a tool."""
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def told_message(text: str, thoughts: str, calls: list[Json]) -> Json:
    """What was said, thought and called."""
    message: Json = {"role": "assistant", "content": text or (None if calls else ""), "refusal": None}
    if thoughts:
        message["reasoning_content"] = thoughts
    if calls:
        message["tool_calls"] = calls
    return message


def told_choice(index: int, message: Json, finish_reason: str) -> Json:
    return {"index": index, "message": message, "logprobs": None, "finish_reason": finish_reason}


def told_answer(id_: str, model: str, created: int, choices: list[Json], usage: Json | None) -> bytes:
    """A whole answer; without a count where the provider gives none."""
    answer: Json = {"id": id_, "object": "chat.completion", "created": created, "model": model, "choices": choices}
    if usage is not None:
        answer["usage"] = usage
    return _encode(answer)


def told_usage(
    prompt: int, completion: int, *, cached: int | None, reasoning: int | None, written: int | None = None
) -> Json:
    """Tokens; details that the provider does not tell are left out. `written` are those of the prompt now cached."""
    found: Json = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    if cached is not None or written:
        found["prompt_tokens_details"] = {"cached_tokens": cached or 0}
    if written:
        found["prompt_tokens_details"]["cache_write_tokens"] = written
    if reasoning is not None:
        found["completion_tokens_details"] = {"reasoning_tokens": reasoning}
    return found


class Chunks:
    """Writes the chunks of one stream.

    The role goes out with the first piece: until then the answer has not begun, and another replica may be asked.
    """

    def __init__(self, created: int) -> None:
        self.id = ""
        self.model = ""
        self._created = created
        self._begun: set[int] = set()

    def piece(self, delta: Json, index: int = 0) -> list[bytes]:
        """A piece of one choice."""
        return [*self._begin(index), self._event([_part(index, delta, None)])]

    def finish(self, finish_reason: str, index: int = 0, **more: Any) -> list[bytes]:
        """Why one choice ended."""
        return [*self._begin(index), self._event([_part(index, {}, finish_reason) | more])]

    def end(self, usage: Json | None) -> list[bytes]:
        """What was used, where it is known, and the end."""
        return [DONE] if usage is None else [self._event([], usage), DONE]

    def _begin(self, index: int) -> list[bytes]:
        if index in self._begun:
            return []
        self._begun.add(index)
        return [self._event([_part(index, {"role": "assistant", "content": ""}, None)])]

    def _event(self, choices: list[Json], usage: Json | None = None) -> bytes:
        event: Json = {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self._created,
            "model": self.model,
            "choices": choices,
        }
        if usage is not None:
            event["usage"] = usage
        return _encode(event)


def told_error(message: str, kind: str) -> bytes:
    """An error in the middle of a stream, for the relay to see."""
    return _encode({"error": {"message": message, "type": "server_error", "code": kind or None, "param": None}})


def _part(index: int, delta: Json, finish_reason: str | None) -> Json:
    return {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
