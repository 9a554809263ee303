"""Anthropic's client and its Messages API."""

from typing import Any

import anthropic
from anthropic import AsyncAnthropic

from tests.support.requests import MODEL
from tests.translation.meant import NOT_CARRIED, Asked, Broke, Called, Json, Part, Refused, Said, Turn

FINISHES = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
STATUSES: dict[type[anthropic.APIError], tuple[int, ...]] = {
    anthropic.BadRequestError: (400,),
    anthropic.RateLimitError: (429,),
    anthropic.InternalServerError: (502,),
    anthropic.ServiceUnavailableError: (503,),
}


class AnthropicClient:
    """Messages, whole and streamed."""

    name = "anthropic"

    def __init__(self, url: str) -> None:
        self._client = AsyncAnthropic(base_url=url, api_key="none", max_retries=0, timeout=60)
        self.not_carried = ""

    async def ask(self, asked: Asked, *, stream: bool) -> Said:
        """Raises Refused and Broke, for the client's own exceptions."""
        try:
            if stream:
                async with self._client.messages.stream(**messages_body(asked)) as events:
                    self.not_carried = events.response.headers.get(NOT_CARRIED, "")
                    return _said(await events.get_final_message())
            answer = await self._client.messages.with_raw_response.create(**messages_body(asked))
            self.not_carried = answer.headers.get(NOT_CARRIED, "")
            return _said(await answer.parse())
        except anthropic.APIError as error:
            raise _refused(error) from error

    async def leave(self, asked: Asked) -> None:
        """Go away at the first word of a stream."""
        stream = await self._client.messages.create(**messages_body(asked), stream=True)
        async for event in stream:
            if event.type == "content_block_delta":
                break
        await stream.close()

    async def close(self) -> None:
        await self._client.close()


def _refused(error: anthropic.APIError) -> Exception:
    if not isinstance(error, anthropic.APIStatusError) or error.response.status_code == 200:
        return Broke(str(error))  # an event in a stream that began well
    assert error.status_code in STATUSES[type(error)]
    return Refused(error.status_code, error.message)


def messages_body(asked: Asked) -> Json:
    body: Json = {"model": MODEL, "max_tokens": asked.max_tokens, "messages": _messages(asked.turns)}
    if asked.system:
        body["system"] = asked.system
    if asked.tools:
        body["tools"] = [
            {"name": one.name, "description": one.description, "input_schema": one.schema}
            | ({} if one.is_strict is None else {"strict": one.is_strict})
            for one in asked.tools
        ]
    if asked.choice == "required":
        body["tool_choice"] = {"type": "any"}
    elif asked.choice:
        body["tool_choice"] = {"type": "tool", "name": asked.choice}
    config: Json = {}
    if asked.wanted is not None:
        config["format"] = {"type": "json_schema", "schema": asked.wanted.schema}
    if asked.effort:
        config["effort"] = asked.effort
    if config:
        body["output_config"] = config
    if asked.stops:
        body["stop_sequences"] = list(asked.stops)
    return body


def _messages(turns: tuple[Turn, ...]) -> list[Json]:
    """Results of one turn's calls are one turn."""
    found: list[Json] = []
    was_result = False
    for turn in turns:
        if turn.role == "tool" and was_result:
            found[-1]["content"].append(_result(turn))
        elif turn.role == "tool":
            found.append({"role": "user", "content": [_result(turn)]})
        else:
            found.append({"role": turn.role, "content": _blocks(turn)})
        was_result = turn.role == "tool"
    return found


def _result(turn: Turn) -> Json:
    return {"type": "tool_result", "tool_use_id": turn.call_id, "content": turn.text}


def _blocks(turn: Turn) -> list[Json]:
    thoughts = [{"type": "thinking", "thinking": turn.thoughts, "signature": ""}] if turn.thoughts else []
    calls = [{"type": "tool_use", "id": one.id, "name": one.name, "input": one.arguments} for one in turn.calls]
    return [*thoughts, *map(_block, turn.parts), *calls]


def _block(part: Part) -> Json:
    if part.picture is None:
        return {"type": "text", "text": part.text}
    if not part.picture.startswith("data:"):
        return {"type": "image", "source": {"type": "url", "url": part.picture}}
    kind, _, data = part.picture.removeprefix("data:").partition(";base64,")
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


def _said(message: Any) -> Said:
    calls = [Called(id=one.id, name=one.name, arguments=one.input) for one in message.content if one.type == "tool_use"]
    usage = message.usage
    cached = usage.cache_read_input_tokens or 0
    details = usage.output_tokens_details
    return Said(
        text="".join(one.text for one in message.content if one.type == "text"),
        thoughts="".join(one.thinking for one in message.content if one.type == "thinking"),
        calls=tuple(calls),
        finish=FINISHES[message.stop_reason],
        stop_text=message.stop_sequence,
        prompt_tokens=usage.input_tokens + cached,
        completion_tokens=usage.output_tokens,
        cached_tokens=cached,
        reasoning_tokens=0 if details is None else details.thinking_tokens or 0,
    )
