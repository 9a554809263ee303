"""Anthropic's Messages, as an engine reads and says them."""

import json
from typing import Final

from tests.support.requests import MODEL
from tests.translation.drawing import Drawing
from tests.translation.meant import Asked, Called, Json, Part, Said, Tool, Turn, Wanted, result_of

FINISHES: Final = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}


def asked_of(body: bytes) -> Asked:
    """The meaning of what the engine got."""
    asked = json.loads(body)
    system, config = asked.get("system", ""), asked.get("output_config", {})
    wanted = config.get("format")
    return Asked(
        turns=tuple(turn for message in asked["messages"] for turn in _turns(message)),
        system=system if isinstance(system, str) else "\n".join(one["text"] for one in system),
        max_tokens=asked["max_tokens"],
        tools=tuple(_tool(one) for one in asked.get("tools", ())),
        choice=_choice(asked.get("tool_choice", {})),
        wanted=wanted and Wanted(schema=wanted["schema"]),
        stops=tuple(asked.get("stop_sequences", ())),
        effort=config.get("effort", ""),
    )


def whole(said: Said, drawing: Drawing) -> Json:
    """A whole answer."""
    return _beginning(said) | {
        "content": _blocks(said),
        "stop_reason": _reason(said),
        "stop_sequence": said.stop_text,
        "usage": _usage(said),
    }


def events(said: Said, drawing: Drawing) -> list[bytes]:
    """The data of a stream's events, its texts in pieces."""
    usage = _usage(said)
    beginning = {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage | {"output_tokens": 1}}
    found: list[Json] = [{"type": "message_start", "message": _beginning(said) | beginning}, {"type": "ping"}]
    for index, block in enumerate(_blocks(said)):
        place = {"index": index}
        kind, name = {
            "text": ("text_delta", "text"),
            "thinking": ("thinking_delta", "thinking"),
            "tool_use": ("input_json_delta", "partial_json"),
        }[block["type"]]
        if block["type"] == "tool_use":
            text, begun = drawing.json(block["input"]), block | {"input": {}}
        else:
            text, begun = block[name], block | {name: ""}
        found.append({"type": "content_block_start", "content_block": begun} | place)
        deltas = [{"type": kind, name: piece} for piece in drawing.pieces(text)]
        found += [{"type": "content_block_delta", "delta": delta} | place for delta in deltas]
        found.append({"type": "content_block_stop"} | place)
    delta = {"stop_reason": _reason(said), "stop_sequence": said.stop_text}
    found.append({"type": "message_delta", "delta": delta, "usage": usage})
    found.append({"type": "message_stop"})
    return [json.dumps(one).encode() for one in found]


def _beginning(said: Said) -> Json:
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": MODEL}


def _reason(said: Said) -> str:
    return FINISHES[said.finish] if said.stop_text is None else "stop_sequence"


def _usage(said: Said) -> Json:
    return {
        "input_tokens": said.prompt_tokens - said.cached_tokens,
        "output_tokens": said.completion_tokens,
        "cache_read_input_tokens": said.cached_tokens,
        "cache_creation_input_tokens": 0,
        "output_tokens_details": {"thinking_tokens": said.reasoning_tokens},
    }


def _blocks(said: Said) -> list[Json]:
    thoughts = [{"type": "thinking", "thinking": said.thoughts, "signature": ""}] if said.thoughts else []
    texts = [{"type": "text", "text": said.text}] if said.text else []
    calls = [{"type": "tool_use", "id": one.id, "name": one.name, "input": one.arguments} for one in said.calls]
    return [*thoughts, *texts, *calls]


def _turns(message: Json) -> list[Turn]:
    """Results of tools are turns of their own; what a user says beside them is another."""
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if message["role"] == "assistant":
        return [_said(blocks)]
    found: list[Turn] = []
    parts: list[Part] = []
    for block in blocks:
        match block["type"]:
            case "tool_result":
                told = block["content"]
                text = told if isinstance(told, str) else "".join(one["text"] for one in told)
                found.append(Turn(role="tool", parts=(Part(text=result_of(text)),), call_id=block["tool_use_id"]))
            case "image":
                parts.append(Part(picture=_address(block["source"])))
            case _:
                parts.append(Part(text=block["text"]))
    return [*found, Turn(role="user", parts=tuple(parts))] if parts else found


def _said(blocks: list[Json]) -> Turn:
    calls = [one for one in blocks if one["type"] == "tool_use"]
    return Turn(
        role="assistant",
        parts=tuple(Part(text=one["text"]) for one in blocks if one["type"] == "text"),
        thoughts="".join(one["thinking"] for one in blocks if one["type"] == "thinking"),
        calls=tuple(Called(id=one["id"], name=one["name"], arguments=one["input"]) for one in calls),
    )


def _address(source: Json) -> str:
    if source["type"] == "url":
        return str(source["url"])
    return f"data:{source['media_type']};base64,{source['data']}"


def _tool(tool: Json) -> Tool:
    return Tool(
        name=tool["name"],
        description=tool.get("description", ""),
        schema=tool["input_schema"],
        is_strict=tool.get("strict"),
    )


def _choice(choice: Json) -> str:
    if choice.get("type") == "tool":
        return str(choice["name"])
    return "required" if choice.get("type") == "any" else ""
