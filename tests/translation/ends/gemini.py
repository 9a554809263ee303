"""Gemini's API, as an engine reads and says it."""

import json
from typing import Final

from tests.support.requests import MODEL
from tests.translation.drawing import Drawing
from tests.translation.meant import Asked, Called, Json, Part, Said, Tool, Turn, Wanted, result_of

FINISHES: Final = {"stop": "STOP", "length": "MAX_TOKENS", "tool_calls": "STOP", "content_filter": "SAFETY"}


def asked_of(body: bytes) -> Asked:
    """The meaning of what the engine got."""
    asked = json.loads(body)
    config = asked.get("generationConfig", {})
    declared = [one for tool in asked.get("tools", ()) for one in tool["functionDeclarations"]]
    wanted = config.get("responseJsonSchema")
    return Asked(
        turns=tuple(turn for content in asked["contents"] for turn in _turns(content)),
        system="\n".join(part["text"] for part in asked.get("systemInstruction", {}).get("parts", ())),
        max_tokens=config["maxOutputTokens"],
        tools=tuple(_tool(one) for one in declared),
        choice=_choice(asked.get("toolConfig", {}).get("functionCallingConfig", {})),
        wanted=None if wanted is None else Wanted(schema=wanted),
        stops=tuple(config.get("stopSequences", ())),
        effort=config.get("thinkingConfig", {}).get("thinkingLevel", "").lower(),
    )


def whole(said: Said, drawing: Drawing) -> Json:
    """A whole answer."""
    return _answer(said, _parts(said), is_last=True)


def events(said: Said, drawing: Drawing) -> list[bytes]:
    """The data of a stream's events, its texts in pieces and calls whole."""
    pieces: list[Json] = []
    for part in _parts(said):
        pieces += [part | {"text": text} for text in drawing.pieces(part["text"])] if "text" in part else [part]
    answers = [_answer(said, [piece], is_last=piece is pieces[-1]) for piece in pieces]
    return [json.dumps(one).encode() for one in answers]


def _answer(said: Said, parts: list[Json], *, is_last: bool) -> Json:
    candidate: Json = {"content": {"role": "model", "parts": parts}, "index": 0}
    usage: Json = {"promptTokenCount": said.prompt_tokens}
    if is_last:
        candidate["finishReason"] = FINISHES[said.finish]
        usage |= {
            "candidatesTokenCount": said.completion_tokens - said.reasoning_tokens,
            "thoughtsTokenCount": said.reasoning_tokens,
            "cachedContentTokenCount": said.cached_tokens,
            "totalTokenCount": said.prompt_tokens + said.completion_tokens,
        }
    return {"candidates": [candidate], "modelVersion": MODEL, "responseId": "r1", "usageMetadata": usage}


def _parts(said: Said) -> list[Json]:
    thoughts = [{"text": said.thoughts, "thought": True}] if said.thoughts else []
    texts = [{"text": said.text}] if said.text else []
    calls = [{"functionCall": {"id": one.id, "name": one.name, "args": one.arguments}} for one in said.calls]
    return [*thoughts, *texts, *calls]


def _turns(content: Json) -> list[Turn]:
    """Results of tools are turns of their own."""
    parts = content["parts"]
    results = [part["functionResponse"] for part in parts if "functionResponse" in part]
    if results:
        return [_result(one) for one in results]
    said = [part for part in parts if "functionCall" not in part and not part.get("thought")]
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    return [
        Turn(
            role="assistant" if content["role"] == "model" else "user",
            parts=tuple(map(_part, said)),
            thoughts="".join(part["text"] for part in parts if part.get("thought")),
            calls=tuple(Called(id=one["id"], name=one["name"], arguments=one["args"]) for one in calls),
        )
    ]


def _result(result: Json) -> Turn:
    text = result_of(json.dumps(result["response"]))
    return Turn(role="tool", parts=(Part(text=text),), call_id=result["id"])


def _part(part: Json) -> Part:
    if "inlineData" in part:
        data = part["inlineData"]
        return Part(picture=f"data:{data['mimeType']};base64,{data['data']}")
    return Part(picture=part["fileData"]["fileUri"]) if "fileData" in part else Part(text=part["text"])


def _tool(declared: Json) -> Tool:
    schema = declared["parametersJsonSchema"]
    return Tool(name=declared["name"], description=declared.get("description", ""), schema=schema)


def _choice(calling: Json) -> str:
    names = calling.get("allowedFunctionNames")
    return names[0] if names else "required" if calling.get("mode") == "ANY" else ""
