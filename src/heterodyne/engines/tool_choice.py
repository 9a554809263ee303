"""Makes `tool_choice` binding on an engine that takes it as a hint.

llama.cpp constrains a tool call once it has begun but does not make the model begin one. Beginning it in the model's
place, as the last words of the prompt, does.
"""

from typing import Any

import msgspec

from heterodyne.engines.json_edit import put


def bind_tool_choice(body: bytes, call_opening: str) -> bytes:
    """The body with the choice carried out; the same bytes when there is nothing to carry out."""
    if body.find(b'"tool_choice"') < 0:
        return body
    asked = msgspec.json.decode(body, type=dict[str, Any])
    choice, tools = asked.get("tool_choice"), asked.get("tools")
    if not tools or choice in (None, "auto"):
        return body
    if choice == "none":
        return put(body, {"tools": b"[]", "tool_choice": b'"none"'})
    changes: dict[str, Any] = {
        "messages": [*asked["messages"], {"role": "assistant", "content": call_opening}],
        "tool_choice": "required",
    }
    if isinstance(choice, dict):
        name = choice.get("function", {}).get("name")
        changes["tools"] = [tool for tool in tools if tool.get("function", {}).get("name") == name]
    return put(body, {name: msgspec.json.encode(value) for name, value in changes.items()})
