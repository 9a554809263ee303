"""Makes the stream of a second replica the rest of a first one's: one id, one opening, one count of tokens."""

import msgspec

from heterodyne.gateway.partial_answer import PartialAnswer
from heterodyne.ports.engine import EventEdit

DONE = b"[DONE]"


class ContinuedStream:
    """Edits the events of the stream that goes on where `told` stopped."""

    __slots__ = ("_engine_edit", "_partial_answer")

    def __init__(self, partial_answer: PartialAnswer, engine_edit: EventEdit | None) -> None:
        self._partial_answer = partial_answer
        self._engine_edit = engine_edit

    def __call__(self, data: bytes) -> tuple[bytes, ...]:
        edited = (data,) if self._engine_edit is None else self._engine_edit(data)
        return tuple(event for one in edited for event in self._one(one))

    def _one(self, data: bytes) -> tuple[bytes, ...]:
        if data == DONE:
            return (data,)
        event = msgspec.json.decode(data)
        if not isinstance(event, dict) or "error" in event:
            return (data,)
        if _is_opening(event):
            return ()
        event["id"] = self._partial_answer.id or event.get("id")
        event["created"] = self._partial_answer.created or event.get("created")
        usage = event.get("usage")
        if isinstance(usage, dict):
            _count_once(usage, self._partial_answer.delivered_text.tokens)
        return (msgspec.json.encode(event),)


def _is_opening(event: dict[str, object]) -> bool:
    """The event that only says whose turn it is; the client has had one."""
    choices = event.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        return False
    delta = choices[0].get("delta")
    return (
        isinstance(delta, dict)
        and "role" in delta
        and not delta.get("content")
        and choices[0].get("finish_reason") is None
    )


def _count_once(usage: dict[str, object], delivered_tokens: int) -> None:
    """What was said before is part of the second prompt, and was the first replica's answer."""
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if isinstance(prompt, int) and isinstance(completion, int):
        asked, answered = max(0, prompt - delivered_tokens), completion + delivered_tokens
        usage |= {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered}
