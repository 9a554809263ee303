"""Ready-made engine behaviours, well-mannered and not, for ScriptedEngine."""

import asyncio
from collections.abc import Callable

from heterodyne.testing.media import answer_media
from heterodyne.testing.scripted_engine import Behaviour, EngineCall

Json = dict[str, object]

EVENT_STREAM = ("content-type: text/event-stream", "transfer-encoding: chunked")


def chat_answer(content: str = "hello", *, prompt_tokens: int = 7, completion_tokens: int = 3) -> dict[str, object]:
    """A whole chat completion."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, "refusal": None},
                "finish_reason": "stop",
                "logprobs": None,
            }
        ],
        "usage": usage(prompt_tokens, completion_tokens),
    }


def usage(prompt_tokens: int, completion_tokens: int) -> dict[str, int]:
    """Tokens as engines report them."""
    total = prompt_tokens + completion_tokens
    return {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens, "total_tokens": total}


def chat_event(content: str | None, *, finish_reason: str | None = None) -> dict[str, object]:
    """One chunk of a streamed chat completion."""
    delta = {} if content is None else {"content": content}
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": [choice]}


def answer(content: str = "hello", *, delay_s: float = 0.0) -> Behaviour:
    """A whole answer."""

    async def behave(call: EngineCall) -> None:
        await asyncio.sleep(delay_s)
        call.whole(200, chat_answer(content))

    return behave


def stream(tokens: int = 5, *, delay_s: float = 0.0, word: str = " hello") -> Behaviour:
    """An event stream with usage when it is asked for; a whole answer when no stream is."""

    async def behave(call: EngineCall) -> None:
        if not call.json.get("stream"):
            call.whole(200, chat_answer(word * tokens, completion_tokens=tokens))
            return
        call.head(200, *EVENT_STREAM)
        for _ in range(tokens):
            if call.was_cancelled:
                return
            call.event(chat_event(word))
            await asyncio.sleep(delay_s)
        call.event(chat_event(None, finish_reason="stop"))
        options = call.json.get("stream_options")
        if isinstance(options, dict) and options.get("include_usage"):
            call.event({**chat_event(None), "choices": [], "usage": usage(7, tokens)})
        call.event(b"[DONE]")
        call.write(b"0\r\n\r\n")

    return behave


def early(*events: bytes, first_after_s: float, tokens: int = 3) -> Behaviour:
    """A stream with these events at once (who will speak, keep-alives), and its first token so much later."""

    async def behave(call: EngineCall) -> None:
        call.head(200, *EVENT_STREAM)
        for one in events:
            call.chunk(one)
        await asyncio.sleep(first_after_s)
        for _ in range(tokens):
            call.event(chat_event(" hello"))
        call.event(chat_event(None, finish_reason="stop"))
        call.event(b"[DONE]")
        call.write(b"0\r\n\r\n")

    return behave


def refuse(status: int, message: str = "no", *headers: str) -> Behaviour:
    """An error answer."""

    async def behave(call: EngineCall) -> None:
        call.whole(status, {"error": {"message": message, "type": "server_error", "code": None}}, *headers)

    return behave


def raw(data: bytes, *, then: str = "close") -> Behaviour:
    """These bytes, then `close`, `reset` or `hang`."""

    async def behave(call: EngineCall) -> None:
        call.write(data)
        await asyncio.sleep(0.02)
        if then == "close":
            call.close()
        elif then == "reset":
            call.reset()
        else:
            await asyncio.sleep(3600)

    return behave


def stream_then(data: bytes = b"", *, tokens: int = 2, then: str = "close") -> Behaviour:
    """A stream that goes wrong after some tokens."""

    async def behave(call: EngineCall) -> None:
        call.head(200, *EVENT_STREAM)
        for _ in range(tokens):
            call.event(chat_event(" hello"))
        await raw(data, then=then)(call)

    return behave


def answer_everything(*, tokens: int = 3) -> Behaviour:
    """Each operation of the API in its own form: chat as `stream` does it, the others as asked."""
    chat = stream(tokens=tokens)

    async def behave(call: EngineCall) -> None:
        if call.path.endswith("/chat/completions"):
            await chat(call)
        elif call.path.endswith("/completions") and call.json.get("stream"):
            _stream_text(call, tokens)
        elif not answer_media(call):
            call.whole(200, WHOLE[call.path](call.json))

    return behave


def _stream_text(call: EngineCall, tokens: int) -> None:
    call.head(200, *EVENT_STREAM)
    for _ in range(tokens):
        call.event(_text(" hello", finish_reason=None))
    call.event(_text("", finish_reason="stop"))
    call.event({**_text("", finish_reason=None), "choices": [], "usage": usage(7, tokens)})
    call.event(b"[DONE]")
    call.write(b"0\r\n\r\n")


def _text(text: str, *, finish_reason: str | None) -> Json:
    choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": finish_reason}
    return {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "scripted", "choices": [choice]}


def _whole_text(asked: Json) -> Json:
    return {**_text(" hello", finish_reason="stop"), "usage": usage(7, 1)}


def _vectors(asked: Json) -> Json:
    inputs = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
    data = [{"object": "embedding", "index": index, "embedding": [0.6, 0.8]} for index in range(len(inputs))]
    return {"object": "list", "model": "scripted", "data": data, "usage": usage(7, 0)}


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
