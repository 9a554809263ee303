"""A small blocking client of the OpenAI API for the terminal: models, one answer, a streamed answer."""

import http.client
from collections.abc import Generator, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from heterodyne.cli.gateway_client import GatewayClient, GatewayRefused, decoded
from heterodyne.domain.errors import EngineBroke


class ListedModel(Struct, frozen=True):
    """One entry of /v1/models."""

    id: str
    purpose: str | None = None  # None: the gateway does not send it


class ListedModels(Struct, frozen=True):
    """What /v1/models answers."""

    data: tuple[ListedModel, ...]


class ChatMessage(Struct, frozen=True):
    """One turn of a conversation."""

    role: str
    content: str


class ChatBody(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is sent to /v1/chat/completions."""

    model: str
    messages: tuple[ChatMessage, ...]
    max_tokens: int | None = None
    temperature: float | None = None
    stream: bool = False


class ChatDelta(Struct, frozen=True):
    content: str | None = None


class ChatChunkChoice(Struct, frozen=True):
    delta: ChatDelta = ChatDelta()


class ChatStreamError(Struct, frozen=True):
    message: str = "no reason given"


class ChatChunk(Struct, frozen=True):
    """One event of a stream: a piece of the answer, or the error that ended it."""

    choices: tuple[ChatChunkChoice, ...] = ()
    error: ChatStreamError | None = None


class OpenAIClient(GatewayClient):
    """Speaks to one gateway. Closing the connection, as Ctrl-C does, cancels the generation behind it."""

    def models(self) -> tuple[ListedModel, ...]:
        """The models the gateway serves, in its order."""
        return decoded(self.whole("GET", "/v1/models"), ListedModels).data

    def answer(self, body: ChatBody) -> bytes:
        """The whole answer, as the JSON the gateway sent."""
        return self.whole("POST", "/v1/chat/completions", msgspec.json.encode(body))

    def ask(self, path: str, body: Mapping[str, Any]) -> bytes:
        """The same of any path, with a body of the caller's own."""
        return self.whole("POST", path, msgspec.json.encode(body))

    def stream(self, body: ChatBody) -> Generator[str, None, None]:
        """The pieces of an answer as they come; raises when the stream ends before its end."""
        content = msgspec.json.encode(msgspec.structs.replace(body, stream=True))
        with self.exchange("POST", "/v1/chat/completions", content) as response:
            for data in _events(response):
                if data == b"[DONE]":
                    return
                chunk = decoded(data, ChatChunk)
                if chunk.error is not None:
                    raise GatewayRefused(f"the answer was cut short: {chunk.error.message}")
                for choice in chunk.choices:
                    if choice.delta.content:
                        yield choice.delta.content
        raise EngineBroke("the answer was cut short: the gateway closed the connection")


def _events(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """The data of each server-sent event; comments and other fields are passed over."""
    data: list[bytes] = []
    while line := _line(response):
        line = line.rstrip(b"\r\n")
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif not line and data:
            yield b"\n".join(data)
            data = []


def _line(response: http.client.HTTPResponse) -> bytes:
    try:
        return response.readline()
    except TimeoutError as error:
        raise EngineBroke("the answer was cut short: the gateway fell silent") from error
    except (OSError, http.client.HTTPException) as error:
        raise EngineBroke("the answer was cut short: the gateway closed the connection") from error
