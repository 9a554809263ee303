"""Google's client and the Gemini API."""

import asyncio
from base64 import b64decode
from typing import Any

import msgspec
from google import genai
from google.genai import errors, types

from tests.support.requests import MODEL
from tests.translation.meant import NOT_CARRIED, Asked, Broke, Called, Json, Part, Refused, Said, Turn

FINISHES = {"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "content_filter"}
STATUSES: dict[type[errors.APIError], tuple[int, ...]] = {
    errors.ClientError: (400, 429),
    errors.ServerError: (502, 503),
}
NO_CALLS = types.AutomaticFunctionCallingConfig(disable=True)  # calls are the test's to answer


class GeminiClient:
    """`generateContent` and `streamGenerateContent`."""

    name = "gemini"

    def __init__(self, url: str) -> None:
        options = types.HttpOptions(base_url=url, timeout=60_000)
        self._client = genai.Client(api_key="none", http_options=options).aio
        self.not_carried = ""

    async def ask(self, asked: Asked, *, stream: bool) -> Said:
        """Raises Refused and Broke, for the client's own exceptions."""
        has_begun = False
        try:
            if not stream:
                answers = [await self._client.models.generate_content(**generate_body(asked))]
            else:
                answers = []
                async for one in await self._client.models.generate_content_stream(**generate_body(asked)):
                    has_begun = True
                    answers.append(one)
        except errors.APIError as error:
            if has_begun:
                raise Broke(str(error)) from error
            raise _refused(error) from error
        headers = {name.lower(): value for name, value in answers[0].sdk_http_response.headers.items()}
        self.not_carried = headers.get(NOT_CARRIED, "")
        return _said(answers)

    async def leave(self, asked: Asked) -> None:
        """Go away at the first word of a stream."""
        heard = asyncio.Event()

        async def read() -> None:
            async for one in await self._client.models.generate_content_stream(**generate_body(asked)):
                if one.text:
                    heard.set()

        reading = asyncio.create_task(read())  # its streams have no close: who reads is cancelled
        await heard.wait()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)

    async def close(self) -> None:
        await self._client.aclose()


def _refused(error: errors.APIError) -> Refused:
    assert error.code in STATUSES[type(error)]
    return Refused(error.code, error.message or "")


def generate_body(asked: Asked) -> Json:
    config: Json = {"max_output_tokens": asked.max_tokens, "automatic_function_calling": NO_CALLS}
    if asked.system:
        config["system_instruction"] = asked.system
    if asked.tools:
        declared = [
            types.FunctionDeclaration(name=one.name, description=one.description, parameters_json_schema=one.schema)
            for one in asked.tools
        ]
        config["tools"] = [types.Tool(function_declarations=declared)]
    if asked.choice:
        names = None if asked.choice == "required" else [asked.choice]
        calling = types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode.ANY, allowed_function_names=names)
        config["tool_config"] = types.ToolConfig(function_calling_config=calling)
    if asked.wanted is not None:
        config |= {"response_mime_type": "application/json", "response_json_schema": asked.wanted.schema}
    if asked.stops:
        config["stop_sequences"] = list(asked.stops)
    if asked.effort:
        config["thinking_config"] = types.ThinkingConfig(thinking_level=types.ThinkingLevel(asked.effort.upper()))
    return {"model": MODEL, "contents": _contents(asked.turns), "config": types.GenerateContentConfig(**config)}


def _contents(turns: tuple[Turn, ...]) -> list[types.Content]:
    """Results of one turn's calls are one turn."""
    found: list[types.Content] = []
    was_result = False
    for turn in turns:
        parts = [_result(turn)] if turn.role == "tool" else _parts(turn)
        if turn.role == "tool" and was_result:
            found[-1] = types.Content(role="user", parts=[*(found[-1].parts or ()), *parts])
        else:
            found.append(types.Content(role="model" if turn.role == "assistant" else "user", parts=parts))
        was_result = turn.role == "tool"
    return found


def _result(turn: Turn) -> types.Part:
    """An object; a text is the `output` of one."""
    try:
        response = msgspec.json.decode(turn.text, type=Json)
    except msgspec.DecodeError:
        response = {"output": turn.text}
    return types.Part(function_response=types.FunctionResponse(id=turn.call_id, name=turn.tool, response=response))


def _parts(turn: Turn) -> list[types.Part]:
    thoughts = [types.Part(text=turn.thoughts, thought=True)] if turn.thoughts else []
    calls = [
        types.Part(function_call=types.FunctionCall(id=one.id, name=one.name, args=one.arguments)) for one in turn.calls
    ]
    return [*thoughts, *map(_part, turn.parts), *calls]


def _part(part: Part) -> types.Part:
    if part.picture is None:
        return types.Part(text=part.text)
    if not part.picture.startswith("data:"):
        return types.Part(file_data=types.FileData(file_uri=part.picture, mime_type="image/png"))
    kind, _, data = part.picture.removeprefix("data:").partition(";base64,")
    return types.Part(inline_data=types.Blob(data=b64decode(data), mime_type=kind))


def _said(answers: list[Any]) -> Said:
    """A whole answer, or the pieces of one."""
    candidates = [one for answer in answers for one in answer.candidates or ()]
    parts = [part for one in candidates if one.content for part in one.content.parts or ()]
    calls = [
        Called(id=one.function_call.id, name=one.function_call.name, arguments=one.function_call.args or {})
        for one in parts
        if one.function_call
    ]
    [finish] = [one.finish_reason for one in candidates if one.finish_reason]
    usage = answers[-1].usage_metadata
    thought_tokens = usage.thoughts_token_count or 0
    return Said(
        text="".join(one.text or "" for one in parts if not one.thought),
        thoughts="".join(one.text or "" for one in parts if one.thought),
        calls=tuple(calls),
        finish="tool_calls" if calls and finish.value == "STOP" else FINISHES[finish.value],
        prompt_tokens=usage.prompt_token_count,
        completion_tokens=usage.candidates_token_count + thought_tokens,
        cached_tokens=usage.cached_content_token_count or 0,
        reasoning_tokens=thought_tokens,
    )
