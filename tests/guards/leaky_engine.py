"""An engine that says one text whatever it is asked, in the form of every operation."""

import asyncio
from typing import Any

from heterodyne.testing.behaviours import EVENT_STREAM, chat_answer, chat_event, usage
from heterodyne.testing.media import form_value
from heterodyne.testing.scripted_engine import Behaviour, EngineCall

PIECE = 3  # characters of an event, so that nothing is in one event alone


def saying(text: str, *, more: str = " and so the story goes on for a while") -> Behaviour:
    """The text, and more behind it."""

    async def behave(call: EngineCall) -> None:
        path = call.path.removeprefix("/v1")
        if path.startswith("/audio/trans"):
            _transcribe(call, text + more)
        elif path in ("/chat/completions", "/completions"):
            await _generate(call, text + more, is_chat=path == "/chat/completions")
        else:
            call.whole(200, _whole(path, text))

    return behave


async def _generate(call: EngineCall, text: str, *, is_chat: bool) -> None:
    if not call.json.get("stream"):
        answer = chat_answer(text)
        if not is_chat:
            answer["choices"] = [{"index": 0, "text": text, "finish_reason": "stop", "logprobs": None}]
        call.whole(200, answer)
        return
    call.head(200, *EVENT_STREAM)
    for start in range(0, len(text), PIECE):
        await asyncio.sleep(0)
        if call.was_cancelled:
            return
        piece = text[start : start + PIECE]
        choice = {"index": 0, "text": piece, "finish_reason": None}
        call.event(chat_event(piece) if is_chat else {**chat_event(piece), "choices": [choice]})
    choice = {"index": 0, "text": "", "finish_reason": "stop"}
    call.event(chat_event(None, finish_reason="stop") if is_chat else {**chat_event(""), "choices": [choice]})
    call.event({**chat_event(None), "choices": [], "usage": usage(7, 9)})
    call.event(b"[DONE]")
    call.write(b"0\r\n\r\n")


def _transcribe(call: EngineCall, text: str) -> None:
    if form_value(call, "stream") == "true":
        call.head(200, *EVENT_STREAM)
        for start in range(0, len(text), PIECE):
            call.event({"type": "transcript.text.delta", "delta": text[start : start + PIECE]})
        call.event({"type": "transcript.text.done", "text": text})
        call.write(b"0\r\n\r\n")
    elif form_value(call, "response_format") == "srt":
        call.head(200, "content-type: text/plain", f"content-length: {len(text)}")
        call.write(text.encode())
    else:
        call.whole(200, {"text": text})


def _whole(path: str, text: str) -> dict[str, Any]:
    match path:
        case "/rerank":
            return {"results": [{"index": 0, "relevance_score": 0.5, "document": {"text": text}}]}
        case "/images/generations":
            return {"created": 1, "data": [{"b64_json": "aGk=", "revised_prompt": text}]}
        case "/detokenize":
            return {"prompt": text}
        case "/moderations":
            return {"id": "m", "results": [{"flagged": False, "categories": {}, "category_scores": {}}]}
        case _:
            return {"text": text}
