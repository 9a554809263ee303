"""Turns of a chat, put together from what other APIs call blocks or parts."""

from typing import Any

import msgspec

Json = dict[str, Any]


def call_of(id_: str, name: str, arguments: Json | None) -> Json:
    """One call that the model asked for."""
    text = msgspec.json.encode(arguments or {}).decode()
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": text}}


def said_turn(texts: list[str], thoughts: list[str], calls: list[Json]) -> Json:
    """What the model said, thought and called."""
    turn: Json = {"role": "assistant", "content": "".join(texts) or None}
    if thoughts:
        turn["reasoning_content"] = "".join(thoughts)
    if calls:
        turn["tool_calls"] = calls
    return turn


def asked_turn(parts: list[Json]) -> Json:
    """What the user said; words alone need no parts."""
    is_text = len(parts) == 1 and parts[0]["type"] == "text"
    return {"role": "user", "content": parts[0]["text"] if is_text else parts}
