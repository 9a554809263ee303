"""An engine behaviour that answers each operation of the API in its own form."""

from collections.abc import Callable

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import Behaviour, EngineCall

Json = dict[str, object]


def answer_everything(*, tokens: int = 3) -> Behaviour:
    """Chat as `behaviours.stream` does it; text, vectors and token ids whole or streamed as asked."""
    chat = behaviours.stream(tokens=tokens)

    async def behave(call: EngineCall) -> None:
        if call.path.endswith("/chat/completions"):
            await chat(call)
        elif call.path.endswith("/completions") and call.json.get("stream"):
            _stream_text(call, tokens)
        else:
            call.whole(200, WHOLE[call.path](call.json))

    return behave


def _stream_text(call: EngineCall, tokens: int) -> None:
    call.head(200, *behaviours.EVENT_STREAM)
    for _ in range(tokens):
        call.event(_text(" hello", finish_reason=None))
    call.event(_text("", finish_reason="stop"))
    call.event({**_text("", finish_reason=None), "choices": [], "usage": behaviours.usage(7, tokens)})
    call.event(b"[DONE]")
    call.write(b"0\r\n\r\n")


def _text(text: str, *, finish_reason: str | None) -> Json:
    choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": finish_reason}
    return {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "scripted", "choices": [choice]}


def _whole_text(asked: Json) -> Json:
    return {**_text(" hello", finish_reason="stop"), "usage": behaviours.usage(7, 1)}


def _vectors(asked: Json) -> Json:
    inputs = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
    data = [{"object": "embedding", "index": index, "embedding": [0.6, 0.8]} for index in range(len(inputs))]
    return {"object": "list", "model": "scripted", "data": data, "usage": behaviours.usage(7, 0)}


def _tokens(asked: Json) -> Json:
    return {"count": 3, "max_model_len": 2048, "tokens": [1, 2, 3]}


def _prompt(asked: Json) -> Json:
    return {"prompt": "hello"}


WHOLE: dict[str, Callable[[Json], Json]] = {
    "/v1/completions": _whole_text,
    "/v1/embeddings": _vectors,
    "/tokenize": _tokens,
    "/detokenize": _prompt,
}
