"""OpenAI's client and its chat completions."""

import json
from typing import Any

import openai
from openai import AsyncOpenAI

from tests.support.requests import MODEL
from tests.translation.meant import NOT_CARRIED, Asked, Broke, Called, Json, Part, Refused, Said, Turn


class ChatClient:
    """Chat completions, whole and streamed."""

    name = "chat"

    def __init__(self, url: str) -> None:
        self._client = AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=60)
        self.not_carried = ""  # of the last answer

    async def ask(self, asked: Asked, *, stream: bool) -> Said:
        """Raises Refused and Broke, for the client's own exceptions."""
        body = chat_body(asked) | ({"stream": True, "stream_options": {"include_usage": True}} if stream else {})
        try:
            answer = await self._client.chat.completions.with_raw_response.create(**body)
            self.not_carried = answer.headers.get(NOT_CARRIED, "")
            return await _gathered(answer.parse()) if stream else _said(answer.parse())
        except openai.APIError as error:
            raise refused(error) from error

    async def leave(self, asked: Asked) -> None:
        """Go away at the first word of a stream."""
        stream = await self._client.chat.completions.create(**chat_body(asked), stream=True)
        async for chunk in stream:
            if chunk.choices and chunk.choices[0].delta.content:
                break
        await stream.close()

    async def close(self) -> None:
        await self._client.close()


STATUSES: dict[type[openai.APIError], tuple[int, ...]] = {
    openai.BadRequestError: (400,),
    openai.RateLimitError: (429,),
    openai.InternalServerError: (502, 503),
}


def refused(error: openai.APIError) -> Exception:
    """The same as every other client's, where the exception is the one for its status."""
    if not isinstance(error, openai.APIStatusError):
        return Broke(str(error))
    assert error.status_code in STATUSES[type(error)]
    return Refused(error.status_code, f"{error.message} {error.param}")


def chat_body(asked: Asked) -> Json:
    body: Json = {"model": MODEL, "max_tokens": asked.max_tokens}
    system: list[Json] = [{"role": "system", "content": asked.system}] if asked.system else []
    body["messages"] = system + [_message(turn) for turn in asked.turns]
    if asked.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": one.name, "description": one.description, "parameters": one.schema}
                | ({} if one.is_strict is None else {"strict": one.is_strict}),
            }
            for one in asked.tools
        ]
    if asked.choice == "required":
        body["tool_choice"] = "required"
    elif asked.choice:
        body["tool_choice"] = {"type": "function", "function": {"name": asked.choice}}
    if asked.wanted is not None:
        schema = {"name": "answer", "schema": asked.wanted.schema}
        described = {"description": asked.wanted.description} if asked.wanted.description else {}
        body["response_format"] = {"type": "json_schema", "json_schema": schema | described}
    if asked.stops:
        body["stop"] = list(asked.stops)
    if asked.effort:
        body["reasoning_effort"] = asked.effort
    return body


def _message(turn: Turn) -> Json:
    if turn.role == "tool":
        return {"role": "tool", "tool_call_id": turn.call_id, "content": turn.text}
    if turn.role == "user":
        return {"role": "user", "content": [_part(part) for part in turn.parts]}
    message: Json = {"role": "assistant", "content": turn.text or None}
    if turn.thoughts:
        message["reasoning_content"] = turn.thoughts
    if turn.calls:
        message["tool_calls"] = [
            {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": json.dumps(one.arguments)}}
            for one in turn.calls
        ]
    return message


def _part(part: Part) -> Json:
    if part.picture is not None:
        return {"type": "image_url", "image_url": {"url": part.picture}}
    return {"type": "text", "text": part.text}


def _said(answer: Any) -> Said:
    [choice] = answer.choices
    message = choice.message
    calls = [(one.id, one.function.name, one.function.arguments) for one in message.tool_calls or ()]
    thoughts = getattr(message, "reasoning_content", None) or ""
    return _told(choice, answer.usage, text=message.content or "", thoughts=thoughts, calls=calls)


async def _gathered(stream: Any) -> Said:
    """The pieces of a stream, put together."""
    text = thoughts = ""
    calls: dict[int, list[str]] = {}
    last = usage = None
    async for chunk in stream:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            thoughts += getattr(choice.delta, "reasoning_content", None) or ""
            for piece in choice.delta.tool_calls or ():
                call = calls.setdefault(piece.index, ["", "", ""])
                call[0] = piece.id or call[0]
                call[1] = piece.function.name or call[1]
                call[2] += piece.function.arguments or ""
            last = choice if choice.finish_reason else last
    assert last is not None
    ordered = [tuple(calls[place]) for place in sorted(calls)]
    return _told(last, usage, text=text, thoughts=thoughts, calls=ordered)


def _told(choice: Any, usage: Any, *, text: str, thoughts: str, calls: list[Any]) -> Said:
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    return Said(
        text=text,
        thoughts=thoughts,
        calls=tuple(Called(id=id_, name=name, arguments=json.loads(words)) for id_, name, words in calls),
        finish=choice.finish_reason,
        stop_text=getattr(choice, "stop_reason", None),
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cached_tokens=(prompt and prompt.cached_tokens) or 0,
        reasoning_tokens=(completion and completion.reasoning_tokens) or 0,
    )
