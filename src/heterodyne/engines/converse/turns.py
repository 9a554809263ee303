"""The turns of an OpenAI chat as Converse's: messages of blocks that take turns, and what the system says apart."""

import re
from typing import Any, Final

from heterodyne.domain.errors import InvalidField
from heterodyne.engines.hosted.asked_chat import (
    AskedCall,
    AskedFile,
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
Blocks = list[Json]

PROVIDER: Final = "Bedrock's Converse API"
PICTURES: Final = {f"image/{name}": name for name in ("png", "jpeg", "gif", "webp")} | {"image/jpg": "jpeg"}
SOUNDS: Final = frozenset({"mp3", "opus", "wav", "aac", "flac", "mp4", "ogg", "m4a", "pcm", "webm"})
OFFICE: Final = "application/vnd.openxmlformats-officedocument"
DOCUMENTS: Final = {
    "application/pdf": "pdf",
    "text/csv": "csv",
    "application/msword": "doc",
    f"{OFFICE}.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    f"{OFFICE}.spreadsheetml.sheet": "xlsx",
    "text/html": "html",
    "text/plain": "txt",
    "text/markdown": "md",
}
NAMELESS: Final = "document"
NAME_CHARS_MAX: Final = 200
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9\s\-()\[\]]|(?<=\s)\s")


def told_messages(messages: list[AskedMessage], lost: NotTold) -> tuple[Blocks, list[Json]]:
    """What the system says, wherever it says it, and the messages. It wants users and models to take turns."""
    system: Blocks = []
    told: list[Json] = []
    for number, message in enumerate(messages):
        where = f"messages[{number}]"
        lost.note("messages.name", is_set=bool(message.name) and message.role != "tool")
        match message.role:
            case "system" | "developer":
                system += [{"text": text} for text in texts_of(message, where) if text]
                continue
            case "assistant":
                role, blocks = "assistant", _said(message, where, lost)
            case "user":
                role, blocks = "user", _asked(message, where, lost)
            case "tool":
                role, blocks = "user", [_result(message, where)]
            case _:
                path = f"{where}.role"
                raise InvalidField(f"{path}: {message.role!r} cannot be told to {PROVIDER}.", param=path)
        if told and told[-1]["role"] == role:
            told[-1]["content"] += blocks
        else:
            told.append({"role": role, "content": blocks})
    return system, told


def _said(message: AskedMessage, where: str, lost: NotTold) -> Blocks:
    for name in ("function_call", "audio"):
        if getattr(message, name) is not None:
            raise InvalidField(f"{where}.{name}: cannot be told to {PROVIDER}.", param=f"{where}.{name}")
    thoughts: Blocks = []
    if message.thoughts and message.reasoning_signature:
        text = {"text": message.thoughts, "signature": message.reasoning_signature}
        thoughts = [{"reasoningContent": {"reasoningText": text}}]
    else:
        # A model takes no thoughts but its own, which it knows by their signature.
        lost.note("messages.reasoning_content", is_set=bool(message.thoughts))
    texts = [text for text in texts_of(message, where) if text]
    if message.refusal and not texts:
        texts = [message.refusal]
    calls = [_call(call, f"{where}.tool_calls[{number}]") for number, call in enumerate(message.tool_calls or ())]
    return [*thoughts, *({"text": text} for text in texts), *calls]


def _call(call: AskedCall, where: str) -> Json:
    if call.type != "function" or call.function is None:
        raise InvalidField(f"{where}.type: only functions can be told to {PROVIDER}.", param=f"{where}.type")
    arguments = arguments_object(call.function, where)
    return {"toolUse": {"toolUseId": call.id, "name": call.function.name, "input": arguments}}


def _result(message: AskedMessage, where: str) -> Json:
    content = [{"text": text} for text in texts_of(message, where) if text]
    return {"toolResult": {"toolUseId": message.tool_call_id, "content": content}}


def _asked(message: AskedMessage, where: str, lost: NotTold) -> Blocks:
    content = message.content
    if content is None or isinstance(content, str):
        return [{"text": content or ""}]
    return [_block(part, f"{where}.content[{number}]", lost) for number, part in enumerate(content)]


def _block(part: AskedPart, where: str, lost: NotTold) -> Json:
    match part.type:
        case "text":
            return {"text": part.text}
        case "image_url":
            picture = picture_of(part)
            lost.note("messages.content.image_url.detail", is_set=picture.detail not in (None, "auto"))
            kind, data = _data(picture.url, PICTURES, f"{where}.image_url.url")
            return {"image": {"format": kind, "source": {"bytes": data}}}
        case "input_audio" if part.input_audio is not None and part.input_audio.format in SOUNDS:
            sound = part.input_audio
            return {"audio": {"format": sound.format, "source": {"bytes": sound.data}}}
        case "file" if part.file is not None and part.file.file_data is not None:
            kind, data = _data(part.file.file_data, DOCUMENTS, f"{where}.file.file_data")
            return {"document": {"format": kind, "name": _name(part.file, lost), "source": {"bytes": data}}}
        case _:
            raise unknown_part(part, where)


def _data(url: str, formats: dict[str, str], where: str) -> tuple[str, str]:
    """It reads no addresses but those of its own storage."""
    found = try_data_url(url)
    if found is None or found[0] not in formats:
        known = ", ".join(formats)
        raise InvalidField(f"{where}: `data:` with base64 of one of {known} is expected by {PROVIDER}.", param=where)
    return formats[found[0]], found[1]


def _name(file: AskedFile, lost: NotTold) -> str:
    """It wants one, of few characters."""
    asked = file.filename or ""
    stem, dot, ending = asked.rpartition(".")
    name = _NOT_IN_NAMES.sub("-", stem if dot and ending.isalnum() else asked)[:NAME_CHARS_MAX]
    lost.note("messages.content.file.filename", is_set=not asked.startswith(name))
    return name or NAMELESS
