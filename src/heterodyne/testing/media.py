"""What a scripted engine answers to calls about sounds, pictures and the order of texts."""

from base64 import b64encode
from collections.abc import Callable
from typing import Any, Final

from heterodyne.testing.scripted_engine import EngineCall

Json = dict[str, Any]
SOUND: Final = b"ID3\x04\x00" + bytes(range(256)) * 8
PIECES: Final = 4  # that a sound comes in
PICTURE: Final = b64encode(b"\x89PNG\r\n\x1a\n" + bytes(64)).decode()
SUBTITLES: Final = b"1\n00:00:00,000 --> 00:00:01,000\nhello\n"
EVENTS: Final = ("content-type: text/event-stream; charset=utf-8", "transfer-encoding: chunked")
DETAILS: Final = {"text_tokens": 4, "image_tokens": 10}
COUNTED: Final = {"type": "tokens", "input_tokens": 14, "output_tokens": 4, "total_tokens": 18}


def answer_media(call: EngineCall) -> bool:
    """Answer one of these calls; False: it is none."""
    match call.path.removeprefix("/v1"):
        case "/audio/speech":
            _speak(call)
        case "/audio/transcriptions" | "/audio/translations":
            _transcribe(call)
        case "/images/generations" | "/images/edits" | "/images/variations":
            _draw(call)
        case path if path in WHOLE:
            call.whole(200, WHOLE[path](call.json))
        case _:
            return False
    return True


def form_value(call: EngineCall, name: str) -> str | None:
    """A field of the form that the engine was sent; None: it has none of this name."""
    boundary = call.headers["content-type"].partition("boundary=")[2].strip('"').encode()
    for part in call.body.split(b"--" + boundary):
        head, _, value = part.partition(b"\r\n\r\n")
        if f'name="{name}"'.encode() in head:
            return value[:-2].decode()
    return None


def _speak(call: EngineCall) -> None:
    if call.json.get("stream_format") == "sse":
        call.head(200, *EVENTS)
        call.event({"type": "speech.audio.delta", "audio": b64encode(SOUND).decode()})
        call.event({"type": "speech.audio.done", "usage": COUNTED})
    else:
        call.head(200, "content-type: audio/mpeg", "transfer-encoding: chunked")
        size = len(SOUND) // PIECES
        for start in range(0, len(SOUND), size):
            call.chunk(SOUND[start : start + size])
    call.write(b"0\r\n\r\n")


def _transcribe(call: EngineCall) -> None:
    if form_value(call, "stream") == "true":
        call.head(200, *EVENTS)
        for word in ("hel", "lo"):
            call.event({"type": "transcript.text.delta", "delta": word})
        call.event({"type": "transcript.text.done", "text": "hello", "usage": COUNTED})
        call.write(b"0\r\n\r\n")
    elif form_value(call, "response_format") == "srt":
        call.head(200, "content-type: text/plain; charset=utf-8", f"content-length: {len(SUBTITLES)}")
        call.write(SUBTITLES)
    else:
        call.whole(200, {"text": "hello", "usage": COUNTED})


def _draw(call: EngineCall) -> None:
    is_form = call.headers["content-type"].startswith("multipart/")
    if (form_value(call, "stream") == "true") if is_form else call.json.get("stream"):
        call.head(200, *EVENTS)
        kind = "image_edit" if is_form else "image_generation"
        told = {"b64_json": PICTURE, "created_at": 1, "size": "1024x1024", "quality": "low"}
        told |= {"background": "opaque", "output_format": "png"}
        call.event({"type": f"{kind}.partial_image", "partial_image_index": 0, **told})
        call.event({"type": f"{kind}.completed", **told, "usage": COUNTED})
        call.write(b"0\r\n\r\n")
        return
    count = int(str((form_value(call, "n") if is_form else call.json.get("n")) or 1))
    call.whole(
        200,
        {"created": 1, "data": [{"b64_json": PICTURE}] * count, "usage": {**COUNTED, "input_tokens_details": DETAILS}},
    )


def _rank(asked: Json) -> Json:
    found = [{"index": index, "relevance_score": 1 / (index + 1)} for index in range(len(asked["documents"]))]
    return {"id": "rerank-1", "model": asked["model"], "results": found[: asked.get("top_n")], "usage": _counted(9)}


def _score(asked: Json) -> Json:
    texts = next(asked[name] for name in ("text_2", "documents", "data_2") if asked.get(name) is not None)
    count = len(texts) if isinstance(texts, list) else 1
    data = [{"index": index, "object": "score", "score": 0.5} for index in range(count)]
    return {"id": "score-1", "object": "list", "created": 1, "model": asked["model"], "data": data} | {
        "usage": {"prompt_tokens": 9, **_counted(9)}
    }


def _moderate(asked: Json) -> Json:
    texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
    result = {
        "flagged": False,
        "categories": dict.fromkeys(CATEGORIES, False),
        "category_scores": dict.fromkeys(CATEGORIES, 0.01),
        "category_applied_input_types": {name: ["text"] for name in CATEGORIES},
    }
    return {"id": "modr-1", "model": asked.get("model", "omni-moderation-latest"), "results": [result] * len(texts)}


def _counted(tokens: int) -> Json:
    return {"total_tokens": tokens}


CATEGORIES: Final = (
    *("harassment", "harassment/threatening", "hate", "hate/threatening", "illicit", "illicit/violent", "self-harm"),
    *("self-harm/instructions", "self-harm/intent", "sexual", "sexual/minors", "violence", "violence/graphic"),
)
WHOLE: dict[str, Callable[[Json], Json]] = {
    "/rerank": _rank,
    "/score": _score,
    "/moderations": _moderate,
}
