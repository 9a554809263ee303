"""The items of an answer: thoughts, words, calls."""

from typing import Any

import msgspec
from msgspec import Raw, Struct

from heterodyne.gateway.dialects.responses_thoughts import seal
from heterodyne.gateway.forms.responses_words import COMPLETED, ResponseWords, new_id

Json = dict[str, Any]


class CustomArguments(Struct):
    """Of the function that stands for a tool that takes any text."""

    input: str


_decode_custom = msgspec.json.Decoder(CustomArguments).decode


def reasoning_item(thoughts: str, words: ResponseWords, *, item_id: str = "", status: str = COMPLETED) -> Json:
    """What the model thought. It is told as it is: nobody makes a summary of it."""
    content = [{"type": "reasoning_text", "text": thoughts}] if thoughts else []
    item: Json = {
        "id": item_id or new_id("rs"),
        "type": "reasoning",
        "summary": [],
        "content": content,
        "status": status,
    }
    if words.seals_thoughts and thoughts:
        item["encrypted_content"] = seal(thoughts)
    return item


def text_part(text: str, logprobs: list[Raw] | None = None) -> Json:
    """Words."""
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": logprobs or []}


def refusal_part(text: str) -> Json:
    """Words by which the model declines."""
    return {"type": "refusal", "refusal": text}


def message_item(parts: list[Json], *, item_id: str = "", status: str = COMPLETED) -> Json:
    """What the model says."""
    return {
        "id": item_id or new_id("msg"),
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": parts,
    }


def call_item(
    call_id: str, name: str, arguments: str, words: ResponseWords, *, item_id: str = "", status: str = COMPLETED
) -> Json:
    """A tool that the model wants called."""
    item: Json = {"id": item_id or new_id("fc"), "call_id": call_id, "name": name, "status": status}
    if name in words.namespaces:
        item["namespace"], item["name"] = words.namespaces[name]
    if name in words.custom_tools:
        return item | {"type": "custom_tool_call", "input": custom_input(arguments) if arguments else ""}
    return item | {"type": "function_call", "arguments": arguments}


def custom_input(arguments: str) -> str:
    """What a tool that takes any text is called with: all that the model wrote, where it did not keep to the form."""
    try:
        return _decode_custom(arguments.encode()).input
    except msgspec.DecodeError:
        return arguments
