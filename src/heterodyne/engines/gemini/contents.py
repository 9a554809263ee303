"""The turns of an OpenAI chat as Gemini's: parts, and what the system says apart from them."""

import mimetypes
from typing import Any, Final

import msgspec

from heterodyne.domain.errors import InvalidField
from heterodyne.engines.hosted.asked_chat import (
    AskedCall,
    AskedMessage,
    AskedPart,
    arguments_object,
    picture_of,
    texts_of,
    try_data_url,
    unknown_part,
)
from heterodyne.engines.hosted.carried import NotTold

Json = dict[str, Any]
Parts = list[Json]

PROVIDER: Final = "Gemini's API"

_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def told_contents(messages: list[AskedMessage], lost: NotTold) -> tuple[Parts, list[Json]]:
    """What the system says, wherever it says it, and the turns; results of one turn's calls are one turn."""
    system: Parts = []
    contents: list[Json] = []
    functions: dict[str, str] = {}  # by the id of a call, the name of what it called
    was_result = False
    for number, message in enumerate(messages):
        where = f"messages[{number}]"
        lost.note("messages.name", is_set=bool(message.name) and message.role != "tool")
        match message.role:
            case "system" | "developer":
                system += [{"text": text} for text in texts_of(message, where) if text]
                continue
            case "assistant":
                contents.append({"role": "model", "parts": _said(message, where, functions, lost)})
            case "user":
                contents.append({"role": "user", "parts": _asked(message, where, lost)})
            case "tool":
                result = _result(message, where, functions)
                if was_result:
                    contents[-1]["parts"].append(result)
                else:
                    contents.append({"role": "user", "parts": [result]})
            case _:
                path = f"{where}.role"
                raise InvalidField(f"{path}: {message.role!r} cannot be told to {PROVIDER}.", param=path)
        was_result = message.role == "tool"
    return system, contents


def _said(message: AskedMessage, where: str, functions: dict[str, str], lost: NotTold) -> Parts:
    for name in ("function_call", "audio"):
        if getattr(message, name) is not None:
            raise InvalidField(f"{where}.{name}: cannot be told to {PROVIDER}.", param=f"{where}.{name}")
    lost.note("messages.reasoning_content", is_set=bool(message.thoughts))
    texts = [text for text in texts_of(message, where) if text]
    if message.refusal and not texts:
        texts = [message.refusal]
    parts: Parts = [{"text": text} for text in texts]
    for number, call in enumerate(message.tool_calls or ()):
        parts.append(_call(call, f"{where}.tool_calls[{number}]", functions))
    return parts


def _call(call: AskedCall, where: str, functions: dict[str, str]) -> Json:
    function = call.function
    if call.type != "function" or function is None:
        raise InvalidField(f"{where}.type: only functions can be told to {PROVIDER}.", param=f"{where}.type")
    functions[call.id] = function.name
    said = {"id": call.id, "name": function.name, "args": arguments_object(function, where)}
    signature = _try_signature(call.extra_content)
    return {"functionCall": said} if signature is None else {"functionCall": said, "thoughtSignature": signature}


def _try_signature(extra: Any) -> str | None:
    """What makes a call the model's own, where Google's OpenAI API and our answers keep it."""
    google = extra.get("google") if isinstance(extra, dict) else None
    found = google.get("thought_signature") if isinstance(google, dict) else None
    return found if isinstance(found, str) else None


def _result(message: AskedMessage, where: str, functions: dict[str, str]) -> Json:
    """It wants an object, and the name of what was called."""
    name = functions.get(message.tool_call_id)
    if name is None:
        path = f"{where}.tool_call_id"
        raise InvalidField(f"{path}: no earlier call has the id {message.tool_call_id[:100]!r}.", param=path)
    text = "\n".join(texts_of(message, where))
    try:
        response: Json = {**_object(text)}
    except (msgspec.DecodeError, RecursionError):
        response = {"output": text}
    return {"functionResponse": {"id": message.tool_call_id, "name": name, "response": response}}


def _asked(message: AskedMessage, where: str, lost: NotTold) -> Parts:
    content = message.content
    if content is None or isinstance(content, str):
        return [{"text": content or ""}]
    return [_part(part, f"{where}.content[{number}]", lost) for number, part in enumerate(content)]


def _part(part: AskedPart, where: str, lost: NotTold) -> Json:
    match part.type:
        case "text":
            return {"text": part.text}
        case "image_url":
            picture = picture_of(part)
            lost.note("messages.content.image_url.detail", is_set=picture.detail not in (None, "auto"))
            return _picture(picture.url, f"{where}.image_url.url")
        case "input_audio" if part.input_audio is not None:
            sound = part.input_audio
            return {"inlineData": {"mimeType": f"audio/{sound.format or 'wav'}", "data": sound.data}}
        case "file" if part.file is not None and part.file.file_data is not None:
            return _inline(part.file.file_data, f"{where}.file.file_data")
        case _:
            raise unknown_part(part, where)


def _picture(url: str, where: str) -> Json:
    if not url.startswith(("https://", "http://")):
        return _inline(url, where)
    kind = mimetypes.guess_type(url.partition("?")[0])[0] or ""
    file: Json = {"fileUri": url}
    return {"fileData": file | {"mimeType": kind} if kind.startswith("image/") else file}


def _inline(url: str, where: str) -> Json:
    found = try_data_url(url)
    if found is None:
        raise InvalidField(f"{where}: an address, or `data:` with base64, is expected.", param=where)
    return {"inlineData": {"mimeType": found[0], "data": found[1]}}
