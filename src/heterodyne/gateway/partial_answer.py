"""What a client already has of a streamed answer, read back from the bytes it was sent."""

from typing import Any

import msgspec
from msgspec import Struct

from heterodyne.domain.operation import Operation
from heterodyne.ports.engine import DeliveredText
from heterodyne.wire.chunks import unframe


class PartialAnswer(Struct, frozen=True, kw_only=True):
    """The answer so far."""

    delivered_text: DeliveredText
    events: int  # that had words in them; an event may have held several tokens
    id: str
    created: int
    is_complete: bool  # the model had finished; only the end of the stream is missing


class _Delta(Struct):
    content: str | None = None
    tool_calls: Any = None
    function_call: Any = None
    refusal: Any = None
    reasoning_content: str | None = None
    reasoning: str | None = None


class _Choice(Struct):
    index: int = 0
    delta: _Delta | None = None
    text: str | None = None
    finish_reason: str | None = None
    logprobs: Any = None


class _Event(Struct):
    id: str = ""
    created: int = 0
    choices: list[_Choice] = []


_decode = msgspec.json.Decoder(_Event).decode


def read_partial_answer(pieces: list[bytes], operation: Operation, *, is_chunked: bool) -> PartialAnswer | None:
    """None where the rest could not be put behind it soundly: several choices, calls of tools, hidden reasoning."""
    sent = b"".join(pieces)
    text, tokens = [], 0
    id_, created, is_complete = "", 0, False
    for event in (unframe(sent) if is_chunked else sent).split(b"\n\n"):
        if not event.startswith(b"data:") or event[5:].strip() == b"[DONE]":
            continue
        read = _decode(event[5:])
        id_, created = id_ or read.id, created or read.created
        for choice in read.choices:
            piece = choice.text if operation is Operation.COMPLETION else _content(choice)
            if piece is None or choice.index or choice.logprobs is not None:
                return None
            text.append(piece)
            tokens += bool(piece)
            is_complete = is_complete or choice.finish_reason is not None
    return PartialAnswer(
        delivered_text=DeliveredText("".join(text), tokens),
        events=tokens,
        id=id_,
        created=created,
        is_complete=is_complete,
    )


def _content(choice: _Choice) -> str | None:
    """The words of a chat's event; None where it carries anything that words cannot take up again."""
    delta = choice.delta
    if delta is None:
        return ""
    if delta.tool_calls or delta.function_call or delta.refusal or delta.reasoning_content or delta.reasoning:
        return None
    return delta.content or ""
