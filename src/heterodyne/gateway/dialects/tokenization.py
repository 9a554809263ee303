"""POST /tokenize and /detokenize, in the shape vLLM made customary."""

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.dialects.body import ModelName, check_count, decode
from heterodyne.gateway.dialects.chat import parts_of
from heterodyne.gateway.dialects.chat_fields import Message
from heterodyne.gateway.dialects.members import listed, private, read_members
from heterodyne.gateway.dialects.text import TokenId
from heterodyne.gateway.settings import GatewaySettings

API = {
    Operation.TOKENIZE: frozenset(
        {
            "model",
            "prompt",
            "messages",
            "tools",
            "add_special_tokens",
            "add_generation_prompt",
            "continue_final_message",
            "return_token_strs",
        }
    ),
    Operation.DETOKENIZE: frozenset({"model", "tokens"}),
}


class TokenizeFields(Struct):
    """A prompt, or a conversation that goes through the model's chat template."""

    model: ModelName
    prompt: str | None = None
    messages: Annotated[list[Message], Meta(min_length=1)] | None = None
    add_special_tokens: bool = True


class DetokenizeFields(Struct):
    """Token ids of one text."""

    model: ModelName
    tokens: list[TokenId]


_tokenize = msgspec.json.Decoder(TokenizeFields)
_detokenize = msgspec.json.Decoder(DetokenizeFields)


def read_tokenize(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    """Body bytes to a request."""
    fields = decode(_tokenize, body)
    if (fields.prompt is None) == (fields.messages is None):
        raise InvalidField("prompt: give either `prompt` or `messages`.", param="prompt")
    check_count("messages", "messages", len(fields.messages or ()), settings.messages_max)
    request = _request(Operation.TOKENIZE, fields.model, body, request_id, deadline_s)
    parts = parts_of(fields.messages or ())
    if parts.private:
        request.private_fields = listed(request.private_fields, parts.private)
    return request


def read_count(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    """A question for the tokens of a conversation that was asked in the words of another API."""
    request = read_tokenize(body, request_id, deadline_s, settings)
    request.operation = Operation.COUNT
    return request


def read_detokenize(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    """Body bytes to a request."""
    fields = decode(_detokenize, body)
    check_count("tokens", "token ids", len(fields.tokens), settings.prompt_ids_max)
    return _request(Operation.DETOKENIZE, fields.model, body, request_id, deadline_s)


def _request(operation: Operation, model: str, body: bytes, request_id: str, deadline_s: float) -> Request:
    own = private(read_members(body)[0], API[operation])
    return Request(
        id=request_id,
        operation=operation,
        model=model,
        body=body,
        private_fields=listed(own) if own else (),
        deadline_s=deadline_s,
    )
