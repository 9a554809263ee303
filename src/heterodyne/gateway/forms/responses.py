"""The Responses API: its answers, its event stream and its errors, which are those of OpenAI's other APIs."""

from typing import Any, Final

from heterodyne.domain.errors import EngineGarbage
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway import render
from heterodyne.gateway.forms.chat_answer import SaidChoice, SaidMessage, read_chat, tokens_counted
from heterodyne.gateway.forms.form import ClientForm
from heterodyne.gateway.forms.responses_items import call_item, message_item, reasoning_item, refusal_part, text_part
from heterodyne.gateway.forms.responses_kept import KeptResponse
from heterodyne.gateway.forms.responses_stream import ResponsesStream
from heterodyne.gateway.forms.responses_words import COMPLETED, INCOMPLETE, REASONS, ResponseWords, encode, used

Json = dict[str, Any]


def whole(request: Request, answer: bytes) -> bytes:
    """One that nobody keeps, or how many tokens a turn has."""
    if request.operation is Operation.COUNT:
        return encode({"object": "response.input_tokens", "input_tokens": tokens_counted(answer)})
    return told(request, answer).response(is_kept=False)


def told(request: Request, answer: bytes) -> KeptResponse:
    """A response, as it is once it is known whether it is kept."""
    said = read_chat(answer)
    choice = next((one for one in said.choices if one.message is not None), None)
    if choice is None or choice.message is None:
        raise EngineGarbage("The engine's answer has no message.")
    words = ResponseWords(request.received_body, request.stored_id)
    reason = REASONS.get(choice.finish_reason or "", "")
    return KeptResponse(
        request,
        words,
        status=INCOMPLETE if reason else COMPLETED,
        output=[encode(item) for item in _items(choice, choice.message, words)],
        usage=used(said.usage),
        reason=reason,
    )


RESPONSES: Final = ClientForm(
    render.error_body, whole=whole, stream=ResponsesStream, kept_whole=told, kept_stream=ResponsesStream
)


def _items(choice: SaidChoice, message: SaidMessage, words: ResponseWords) -> list[Json]:
    items = [reasoning_item(message.thoughts, words)] if message.thoughts else []
    parts = []
    if message.content:
        logprobs = choice.logprobs.content if choice.logprobs is not None else None
        parts.append(text_part(message.content, logprobs))
    if message.refusal:
        parts.append(refusal_part(message.refusal))
    if parts or not (items or message.tool_calls):
        items.append(message_item(parts))
    return items + [
        call_item(call.id or "", call.function.name or "", call.function.arguments or "", words)
        for call in message.tool_calls or ()
    ]
