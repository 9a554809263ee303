"""The turns of an OpenAI chat as Anthropic's: blocks, and what the system says apart from them."""

from typing import Any

from heterodyne.domain.errors import InvalidField
from heterodyne.engines.hosted.asked_chat import (
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

PDF = "application/pdf"


def told_turns(messages: list[AskedMessage], lost: NotTold) -> tuple[str | Blocks, list[Json]]:
    """What the system says, wherever it says it, and the turns; results of one turn's calls are one turn."""
    system: Blocks = []
    turns: list[Json] = []
    was_result = False
    for number, message in enumerate(messages):
        where = f"messages[{number}]"
        lost.note("messages.name", is_set=bool(message.name) and message.role != "tool")
        match message.role:
            case "system" | "developer":
                system += [_text(text) for text in texts_of(message, where) if text]
                continue
            case "assistant":
                turns.append({"role": "assistant", "content": _said(message, where, lost)})
            case "user":
                turns.append({"role": "user", "content": _asked(message, where, lost)})
            case "tool":
                if was_result:
                    turns[-1]["content"].append(_result(message, where))
                else:
                    turns.append({"role": "user", "content": [_result(message, where)]})
            case _:
                path = f"{where}.role"
                raise InvalidField(f"{path}: {message.role!r} cannot be told to Anthropic's API.", param=path)
        was_result = message.role == "tool"
    return (system[0]["text"] if len(system) == 1 else system), turns


def _said(message: AskedMessage, where: str, lost: NotTold) -> str | Blocks:
    for name in ("function_call", "audio"):
        if getattr(message, name) is not None:
            raise InvalidField(f"{where}.{name}: cannot be told to Anthropic's API.", param=f"{where}.{name}")
    thoughts: Blocks = []
    if message.thoughts and message.reasoning_signature:
        thoughts = [{"type": "thinking", "thinking": message.thoughts, "signature": message.reasoning_signature}]
    else:
        # It takes no thoughts but its own, which it knows by their signature.
        lost.note("messages.reasoning_content", is_set=bool(message.thoughts))
    texts = [text for text in texts_of(message, where) if text]
    if message.refusal and not texts:
        texts = [message.refusal]
    calls = [_call(message, number, where) for number in range(len(message.tool_calls or ()))]
    if isinstance(message.content, str) and message.content and not thoughts and not calls:
        return message.content
    return [*thoughts, *map(_text, texts), *calls]


def _call(message: AskedMessage, number: int, where: str) -> Json:
    call = (message.tool_calls or [])[number]
    path = f"{where}.tool_calls[{number}]"
    if call.type != "function" or call.function is None:
        raise InvalidField(f"{path}.type: only functions can be told to Anthropic's API.", param=f"{path}.type")
    arguments = arguments_object(call.function, path)
    return {"type": "tool_use", "id": call.id, "name": call.function.name, "input": arguments}


def _result(message: AskedMessage, where: str) -> Json:
    content = message.content
    told = content if isinstance(content, str) else [_text(text) for text in texts_of(message, where)]
    return {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": told}


def _asked(message: AskedMessage, where: str, lost: NotTold) -> str | Blocks:
    content = message.content
    if content is None or isinstance(content, str):
        return content or ""
    return [_block(part, f"{where}.content[{number}]", lost) for number, part in enumerate(content)]


def _block(part: AskedPart, where: str, lost: NotTold) -> Json:
    match part.type:
        case "text":
            return _text(part.text)
        case "image_url":
            picture = picture_of(part)
            lost.note("messages.content.image_url.detail", is_set=picture.detail not in (None, "auto"))
            return {"type": "image", "source": _source(picture.url, f"{where}.image_url.url")}
        case "file":
            return _document(part, where)
        case _:
            raise unknown_part(part, where)


def _source(url: str, where: str) -> Json:
    if url.startswith(("https://", "http://")):
        return {"type": "url", "url": url}
    found = try_data_url(url)
    if found is None:
        raise InvalidField(f"{where}: an address, or `data:` with base64, is expected.", param=where)
    return {"type": "base64", "media_type": found[0], "data": found[1]}


def _document(part: AskedPart, where: str) -> Json:
    file = part.file
    found = try_data_url(file.file_data or "") if file is not None else None
    if file is None or found is None or found[0] != PDF:
        path = f"{where}.file.file_data"
        raise InvalidField(f"{path}: `data:{PDF};base64,` and a document is expected.", param=path)
    block: Json = {"type": "document", "source": {"type": "base64", "media_type": PDF, "data": found[1]}}
    return block | {"title": file.filename} if file.filename else block


def _text(text: str) -> Json:
    return {"type": "text", "text": text}
