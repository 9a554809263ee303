"""A whole answer as it is told: one that was kept under an id of its own, and any as the events of a stream."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request

TEXT_CHARS: Final = 512  # of one event
DONE: Final = b"data: [DONE]\n\n"
SPOKEN: Final = ("reasoning_content", "reasoning", "content", "refusal")  # in the order in which models say them
Json = dict[str, Any]

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Json).decode


def renewed(body: bytes, request: Request, now_s: float) -> Json:
    """The answer to this request: whatever has an id has one of its own, and is of now."""
    answer = _decode(body)
    known = answer.get("id")
    if isinstance(known, str):
        answer["id"] = f"{known.partition('-')[0]}-{request.id}" if "-" in known else request.id
    if "created" in answer:
        answer["created"] = int(now_s)
    return answer


def decode_answer(pieces: Sequence[bytes]) -> Json:
    """A whole answer, read."""
    return _decode(b"".join(pieces))


def whole_of(answer: Json) -> bytes:
    """All at once."""
    return _encode(answer)


def events_of(answer: Json, request: Request) -> bytes:
    """The same as a stream that an engine might have sent, its count included."""
    is_chat = request.operation is Operation.CHAT
    head = {name: value for name, value in answer.items() if name not in ("choices", "usage")}
    if is_chat:
        head["object"] = "chat.completion.chunk"
    parts: list[Json] = []
    for choice in answer.get("choices") or ():
        parts += _chat_parts(choice) if is_chat else _text_parts(choice)
    events = [_event({**head, "choices": [part]}) for part in parts]
    if answer.get("usage"):
        events.append(_event({**head, "choices": [], "usage": answer["usage"]}))
    return b"".join((*events, DONE))


def _chat_parts(choice: Json) -> Iterator[Json]:
    index, message = choice.get("index", 0), choice.get("message") or {}
    yield _part(index, {"role": message.get("role") or "assistant", "content": ""})
    logprobs = choice.get("logprobs")
    for name in SPOKEN:
        text = message.get(name)
        if not isinstance(text, str):
            continue
        if name == "content" and logprobs:  # tokens and their text stay together
            yield {**_part(index, {name: text}), "logprobs": logprobs}
        else:
            for start in range(0, len(text), TEXT_CHARS):
                yield _part(index, {name: text[start : start + TEXT_CHARS]})
    for place, call in enumerate(message.get("tool_calls") or ()):
        yield _part(index, {"tool_calls": [{"index": place, **call}]})
    yield {**_part(index, {}), "finish_reason": choice.get("finish_reason")}


def _part(index: int, delta: Json) -> Json:
    return {"index": index, "delta": delta, "logprobs": None, "finish_reason": None}


def _text_parts(choice: Json) -> Iterator[Json]:
    index, text, logprobs = choice.get("index", 0), choice.get("text") or "", choice.get("logprobs")
    step = max(len(text), 1) if logprobs else TEXT_CHARS
    for start in range(0, len(text), step):
        piece = text[start : start + step]
        yield {"index": index, "text": piece, "logprobs": logprobs, "finish_reason": None}
    yield {"index": index, "text": "", "logprobs": None, "finish_reason": choice.get("finish_reason")}


def _event(content: Json) -> bytes:
    return b"data: %b\n\n" % _encode(content)
