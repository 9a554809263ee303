"""OpenAI's client and its Responses API, with nothing kept."""

import json
from typing import Any

import openai
from openai import AsyncOpenAI

from tests.support.requests import MODEL
from tests.translation.clients.openai_chat import refused
from tests.translation.meant import NOT_CARRIED, Asked, Broke, Called, Json, Part, Said, Turn


class ResponsesClient:
    """Responses with `store: false`, whole and streamed."""

    name = "responses"

    def __init__(self, url: str) -> None:
        self._client = AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=60)
        self.not_carried = ""

    async def ask(self, asked: Asked, *, stream: bool) -> Said:
        """Raises Refused and Broke, for the client's own exceptions and its event of a failure."""
        try:
            answer = await self._client.responses.with_raw_response.create(**responses_body(asked), stream=stream)
            self.not_carried = answer.headers.get(NOT_CARRIED, "")
            return _said(await _last(answer.parse()) if stream else answer.parse())
        except openai.APIError as error:
            raise refused(error) from error

    async def leave(self, asked: Asked) -> None:
        """Go away at the first word of a stream."""
        stream = await self._client.responses.create(**responses_body(asked), stream=True)
        async for event in stream:
            if event.type == "response.output_text.delta":
                break
        await stream.close()

    async def close(self) -> None:
        await self._client.close()


def responses_body(asked: Asked) -> Json:
    body: Json = {"model": MODEL, "store": False, "max_output_tokens": asked.max_tokens}
    body["input"] = [item for turn in asked.turns for item in _items(turn)]
    if asked.system:
        body["instructions"] = asked.system
    if asked.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": one.name,
                "description": one.description,
                "parameters": one.schema,
                "strict": one.is_strict,
            }
            for one in asked.tools
        ]
    if asked.choice == "required":
        body["tool_choice"] = "required"
    elif asked.choice:
        body["tool_choice"] = {"type": "function", "name": asked.choice}
    if asked.wanted is not None:
        schema = {"type": "json_schema", "name": "answer", "schema": asked.wanted.schema}
        described = {"description": asked.wanted.description} if asked.wanted.description else {}
        body["text"] = {"format": schema | described}
    if asked.stops:
        body["extra_body"] = {"stop": list(asked.stops)}
    if asked.effort:
        body["reasoning"] = {"effort": asked.effort}
    return body


def _items(turn: Turn) -> list[Json]:
    if turn.role == "tool":
        return [{"type": "function_call_output", "call_id": turn.call_id, "output": turn.text}]
    if turn.role == "user":
        return [{"role": "user", "content": [_part(part) for part in turn.parts]}]
    items: list[Json] = []
    if turn.thoughts:
        content = [{"type": "reasoning_text", "text": turn.thoughts}]
        items.append({"type": "reasoning", "id": "rs_1", "summary": [], "content": content})
    if turn.text:
        items.append({"role": "assistant", "content": turn.text})
    items += [
        {"type": "function_call", "call_id": one.id, "name": one.name, "arguments": json.dumps(one.arguments)}
        for one in turn.calls
    ]
    return items


def _part(part: Part) -> Json:
    if part.picture is not None:
        return {"type": "input_image", "image_url": part.picture}
    return {"type": "input_text", "text": part.text}


async def _last(stream: Any) -> Any:
    """The response of the last event, which has to say what the pieces before it did."""
    text, last = "", None
    async for event in stream:
        last = event
        if event.type == "response.output_text.delta":
            text += event.delta
    assert last is not None
    if last.type in ("response.failed", "error"):
        raise Broke(str(last))
    assert text == last.response.output_text
    return last.response


def _said(response: Any) -> Said:
    calls = tuple(
        Called(id=one.call_id, name=one.name, arguments=json.loads(one.arguments))
        for one in response.output
        if one.type == "function_call"
    )
    thoughts = [part.text for one in response.output if one.type == "reasoning" for part in one.content or ()]
    usage = response.usage
    return Said(
        text=response.output_text,
        thoughts="".join(thoughts),
        calls=calls,
        finish=_finish(response, has_calls=bool(calls)),
        prompt_tokens=usage.input_tokens,
        completion_tokens=usage.output_tokens,
        cached_tokens=usage.input_tokens_details.cached_tokens,
        reasoning_tokens=usage.output_tokens_details.reasoning_tokens,
    )


def _finish(response: Any, *, has_calls: bool) -> str:
    if response.status == "incomplete":
        return {"max_output_tokens": "length", "content_filter": "content_filter"}[response.incomplete_details.reason]
    assert response.status == "completed"
    return "tool_calls" if has_calls else "stop"
