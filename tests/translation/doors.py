"""Each client's API without its client: what it sends, which dialect reads that, and what its answers say."""

import json
from base64 import b64encode
from collections.abc import Callable

from msgspec import Struct

from heterodyne.domain.request import Request
from heterodyne.gateway.dialects import anthropic, chat, gemini, responses
from heterodyne.gateway.forms.anthropic import ANTHROPIC
from heterodyne.gateway.forms.form import ClientForm
from heterodyne.gateway.forms.gemini import GEMINI
from heterodyne.gateway.forms.passing import OPENAI
from heterodyne.gateway.forms.responses import RESPONSES
from heterodyne.gateway.settings import GatewaySettings
from tests.support.requests import MODEL
from tests.translation.clients import anthropic_messages, gemini_contents, openai_chat, openai_responses
from tests.translation.meant import Asked, Called, Json, Said

SETTINGS = GatewaySettings()


class Door(Struct, frozen=True, kw_only=True):
    """One client's API."""

    form: ClientForm
    body: Callable[[Asked, bool], Json]
    read: Callable[[Json, bool], Request]
    whole: Callable[[Json], Said]
    put_together: Callable[[list[Json]], Json]  # the whole answer that the data of a stream's events stands for


def _bytes(body: Json) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()


def _chat_body(asked: Asked, stream: bool) -> Json:
    more = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
    return openai_chat.chat_body(asked) | more


def _chat_whole(answer: Json) -> Said:
    [choice] = answer["choices"]
    message, usage = choice["message"], answer["usage"]
    functions = [(one["id"], one["function"]) for one in message.get("tool_calls") or ()]
    return Said(
        text=message.get("content") or "",
        thoughts=message.get("reasoning_content") or "",
        calls=tuple(Called(id=id, name=one["name"], arguments=json.loads(one["arguments"])) for id, one in functions),
        finish=choice["finish_reason"],
        stop_text=choice.get("stop_reason"),
        prompt_tokens=usage["prompt_tokens"],
        completion_tokens=usage["completion_tokens"],
        cached_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0),
        reasoning_tokens=(usage.get("completion_tokens_details") or {}).get("reasoning_tokens", 0),
    )


def _chat_together(events: list[Json]) -> Json:
    message: Json = {"content": "", "reasoning_content": ""}
    calls: list[Json] = []
    ending: Json = {}
    for choice in (one for event in events for one in event["choices"]):
        delta = choice["delta"]
        for name in message:
            message[name] += delta.get(name) or ""
        for piece in delta.get("tool_calls") or ():
            if piece["index"] == len(calls):
                calls.append({"id": piece["id"], "function": {"name": piece["function"]["name"], "arguments": ""}})
            calls[piece["index"]]["function"]["arguments"] += piece["function"].get("arguments") or ""
        if choice.get("finish_reason"):
            assert not ending, "it ended twice"
            ending = choice
    [usage] = [event["usage"] for event in events if event.get("usage")]
    return {"choices": [ending | {"message": message | {"tool_calls": calls}}], "usage": usage}


def _responses_body(asked: Asked, stream: bool) -> Json:
    return openai_responses.responses_body(asked) | ({"stream": True} if stream else {})


def _responses_whole(answer: Json) -> Said:
    items, usage = answer["output"], answer["usage"]
    calls = [one for one in items if one["type"] == "function_call"]
    reason = (answer.get("incomplete_details") or {}).get("reason")
    assert answer["status"] == ("incomplete" if reason else "completed")
    finish = {"max_output_tokens": "length", "content_filter": "content_filter"}[reason] if reason else ""
    return Said(
        text="".join(part["text"] for one in items if one["type"] == "message" for part in one["content"]),
        thoughts="".join(part["text"] for one in items if one["type"] == "reasoning" for part in one["content"]),
        calls=tuple(
            Called(id=one["call_id"], name=one["name"], arguments=json.loads(one["arguments"])) for one in calls
        ),
        finish=finish or ("tool_calls" if calls else "stop"),
        prompt_tokens=usage["input_tokens"],
        completion_tokens=usage["output_tokens"],
        cached_tokens=usage["input_tokens_details"]["cached_tokens"],
        reasoning_tokens=usage["output_tokens_details"]["reasoning_tokens"],
    )


def _responses_together(events: list[Json]) -> Json:
    """The last event has all of it, which is what the pieces before it said."""
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    answer: Json = events[-1]["response"]
    said = _responses_whole(answer)
    for kind, text in (("output_text", said.text), ("reasoning_text", said.thoughts)):
        assert "".join(event["delta"] for event in events if event["type"] == f"response.{kind}.delta") == text
    return answer


def _anthropic_body(asked: Asked, stream: bool) -> Json:
    return anthropic_messages.messages_body(asked) | ({"stream": True} if stream else {})


def _anthropic_whole(answer: Json) -> Said:
    blocks, usage = answer["content"], answer["usage"]
    calls = [one for one in blocks if one["type"] == "tool_use"]
    cached = usage["cache_read_input_tokens"] or 0
    return Said(
        text="".join(one["text"] for one in blocks if one["type"] == "text"),
        thoughts="".join(one["thinking"] for one in blocks if one["type"] == "thinking"),
        calls=tuple(Called(id=one["id"], name=one["name"], arguments=one["input"]) for one in calls),
        finish=anthropic_messages.FINISHES[answer["stop_reason"]],
        stop_text=answer["stop_sequence"],
        prompt_tokens=usage["input_tokens"] + cached,
        completion_tokens=usage["output_tokens"],
        cached_tokens=cached,
        reasoning_tokens=(usage.get("output_tokens_details") or {}).get("thinking_tokens", 0),
    )


def _anthropic_together(events: list[Json]) -> Json:
    message: Json = events[0]["message"]
    for event in events[1:]:
        match event["type"]:
            case "content_block_start":
                assert event["index"] == len(message["content"])
                message["content"].append(event["content_block"] | {"partial_json": ""})
            case "content_block_delta":
                block, delta = message["content"][event["index"]], event["delta"]
                for name in ("text", "thinking", "partial_json"):
                    if name in delta:
                        block[name] += delta[name]
            case "content_block_stop" if message["content"][event["index"]]["type"] == "tool_use":
                block = message["content"][event["index"]]
                block["input"] = json.loads(block["partial_json"] or "{}")
            case "message_delta":
                message |= event["delta"] | {"usage": event["usage"]}
    assert events[-1]["type"] == "message_stop"
    return message


def _gemini_body(asked: Asked, stream: bool) -> Json:
    """As its client writes it."""
    made = gemini_contents.generate_body(asked)
    config = made["config"].model_dump(by_alias=True, exclude_none=True, mode="json")
    body: Json = {"contents": [_content(one) for one in made["contents"]]}
    if "systemInstruction" in config:
        body["systemInstruction"] = {"role": "user", "parts": [{"text": config.pop("systemInstruction")}]}
    del config["automaticFunctionCalling"]
    body |= {name: config.pop(name) for name in ("tools", "toolConfig") if name in config}
    return body | {"generationConfig": config}


def _content(content: object) -> Json:
    """Pydantic's JSON has another base64 than the client's."""
    told: Json = content.model_dump(by_alias=True, exclude_none=True)  # type: ignore[attr-defined]
    for part in told["parts"]:
        if "inlineData" in part:
            part["inlineData"]["data"] = b64encode(part["inlineData"]["data"]).decode()
    return told


def _gemini_read(body: Json, stream: bool) -> Request:
    read = gemini.try_reader(MODEL, "streamGenerateContent" if stream else "generateContent")
    assert read is not None
    return read(_bytes(body), "r", 1.0, SETTINGS)


def _gemini_whole(answer: Json) -> Said:
    [candidate] = answer["candidates"]
    parts, usage = candidate["content"]["parts"], answer["usageMetadata"]
    calls = [one["functionCall"] for one in parts if "functionCall" in one]
    finish, thought_tokens = gemini_contents.FINISHES[candidate["finishReason"]], usage.get("thoughtsTokenCount", 0)
    return Said(
        text="".join(one.get("text", "") for one in parts if not one.get("thought")),
        thoughts="".join(one["text"] for one in parts if one.get("thought")),
        calls=tuple(Called(id=one["id"], name=one["name"], arguments=one["args"]) for one in calls),
        finish="tool_calls" if calls and finish == "stop" else finish,
        prompt_tokens=usage["promptTokenCount"],
        completion_tokens=usage["candidatesTokenCount"] + thought_tokens,
        cached_tokens=usage.get("cachedContentTokenCount", 0),
        reasoning_tokens=thought_tokens,
    )


def _gemini_together(events: list[Json]) -> Json:
    parts = [part for event in events for one in event["candidates"] for part in one.get("content", {})["parts"]]
    [finish] = [one["finishReason"] for event in events for one in event["candidates"] if "finishReason" in one]
    candidate = {"content": {"parts": parts}, "finishReason": finish}
    return {"candidates": [candidate], "usageMetadata": events[-1]["usageMetadata"]}


DOORS: dict[str, Door] = {
    "chat": Door(
        form=OPENAI,
        body=_chat_body,
        read=lambda body, stream: chat.read(_bytes(body), "r", 1.0, SETTINGS),
        whole=_chat_whole,
        put_together=_chat_together,
    ),
    "responses": Door(
        form=RESPONSES,
        body=_responses_body,
        read=lambda body, stream: responses.read(_bytes(body), "r", 1.0, SETTINGS),
        whole=_responses_whole,
        put_together=_responses_together,
    ),
    "anthropic": Door(
        form=ANTHROPIC,
        body=_anthropic_body,
        read=lambda body, stream: anthropic.read(_bytes(body), "r", 1.0, SETTINGS),
        whole=_anthropic_whole,
        put_together=_anthropic_together,
    ),
    "gemini": Door(
        form=GEMINI,
        body=_gemini_body,
        read=_gemini_read,
        whole=_gemini_whole,
        put_together=_gemini_together,
    ),
}
