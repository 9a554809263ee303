"""llama.cpp's event streams in OpenAI's form: its log probabilities, and one usage event for all choices together.

llama.cpp counts each choice in an event of its own, and in text completions beside the choice's last piece.
"""

from typing import Any

import msgspec

from heterodyne.domain.errors import EngineGarbage
from heterodyne.domain.operation import Operation
from heterodyne.engines.llamacpp.logprobs import chat_logprobs, text_logprobs

Json = dict[str, Any]
_decode = msgspec.json.Decoder(Json | None).decode


class LlamaCppStream:
    """Edits one stream, event by event."""

    def __init__(self, operation: Operation, choices: int) -> None:
        self._is_text = operation is Operation.COMPLETION
        self._choices = choices  # of each prompt
        self._text_lengths: dict[int, int] = {}  # so far, by choice
        self._counted: Json | None = None  # the usage event to be

    def __call__(self, data: bytes) -> tuple[bytes, ...]:
        try:
            return self._edit(data)
        except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
            raise EngineGarbage("The engine sent an event that has not the promised form.") from error

    def _edit(self, data: bytes) -> tuple[bytes, ...]:
        if data == b"[DONE]":
            return (data,) if self._counted is None else (self._usage_event(self._counted), data)
        event = _decode(data)
        if event is None:
            return ()  # llama.cpp opens the stream of a list of prompts with `null`
        if "choices" not in event:
            return (data,)  # an error, for the relay to see
        usage = event.pop("usage", None)
        if usage is not None:
            self._count(usage, event)
        if not event["choices"]:
            return ()
        for choice in event["choices"]:
            choice["logprobs"] = self._logprobs(choice)
        return (msgspec.json.encode(event),)

    def _logprobs(self, choice: Json) -> Json | None:
        logprobs = choice.get("logprobs")
        if not self._is_text:
            return chat_logprobs(logprobs)
        index = choice["index"]
        offset = self._text_lengths.get(index, 0)
        self._text_lengths[index] = offset + len(choice["text"])
        return text_logprobs(logprobs, offset)

    def _count(self, usage: Json, event: Json) -> None:
        if self._counted is None:
            self._counted = {**event, "choices": [], "usage": {"completion_tokens": 0, "prompt_tokens": 0, "cached": 0}}
        counts = self._counted["usage"]
        counts["completion_tokens"] += usage["completion_tokens"]
        counts["prompt_tokens"] += usage["prompt_tokens"]
        counts["cached"] += (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)

    def _usage_event(self, event: Json) -> bytes:
        """Every prompt has been counted once for each of its choices."""
        written = event["usage"]["completion_tokens"]
        read = event["usage"]["prompt_tokens"] // self._choices
        usage = {
            "completion_tokens": written,
            "prompt_tokens": read,
            "total_tokens": written + read,
            "prompt_tokens_details": {"cached_tokens": event["usage"]["cached"] // self._choices},
        }
        return msgspec.json.encode({**event, "usage": usage})
