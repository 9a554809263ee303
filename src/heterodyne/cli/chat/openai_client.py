"""A small blocking client of the OpenAI API for the terminal: models, one answer, a streamed answer."""

import http.client
import ssl
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import CallerError, EngineBroke, HeterodyneError, OperatorError

Decoded = TypeVar("Decoded")


class GatewayUnreachable(OperatorError):
    """Nothing answers at the address."""

    code = "gateway_unreachable"


class GatewayRefused(HeterodyneError):
    """The gateway answered with an error; its own words are the message."""

    code = "gateway_refused"


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


Body = ChatBody | Mapping[str, Any]


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


class OpenAIClient:
    """Speaks to one gateway. Closing the connection, as Ctrl-C does, cancels the generation behind it."""

    def __init__(self, url: str, api_key: str | None, timeout_s: float) -> None:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        try:
            port = parts.port
        except ValueError as error:
            raise CallerError(f'"{url}" is not a URL: {error}') from error
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise CallerError(f'"{url}" is not a URL like http://127.0.0.1:8080')
        self.url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        self._is_tls = parts.scheme == "https"
        self._host, self._port = parts.hostname, port
        self._base = parts.path.rstrip("/").removesuffix("/v1")
        self._headers = {"content-type": "application/json"}
        if api_key:
            self._headers["authorization"] = f"Bearer {api_key}"
        self._timeout_s = timeout_s

    def models(self) -> tuple[ListedModel, ...]:
        """The models the gateway serves, in its order."""
        return _decode(self._whole("GET", "/v1/models", None), ListedModels).data

    def answer(self, body: ChatBody) -> bytes:
        """The whole answer, as the JSON the gateway sent."""
        return self._whole("POST", "/v1/chat/completions", body)

    def ask(self, path: str, body: Mapping[str, Any]) -> bytes:
        """The same of any path, with a body of the caller's own."""
        return self._whole("POST", path, body)

    def stream(self, body: ChatBody) -> Generator[str, None, None]:
        """The pieces of an answer as they come; raises when the stream ends before its end."""
        body = msgspec.structs.replace(body, stream=True)
        with closing(self._connection()) as connection:
            response = self._response(connection, "POST", "/v1/chat/completions", body)
            for data in _events(response):
                if data == b"[DONE]":
                    return
                chunk = _decode(data, ChatChunk)
                if chunk.error is not None:
                    raise GatewayRefused(f"the answer was cut short: {chunk.error.message}")
                for choice in chunk.choices:
                    if choice.delta.content:
                        yield choice.delta.content
        raise EngineBroke("the answer was cut short: the gateway closed the connection")

    def _whole(self, method: str, path: str, body: Body | None) -> bytes:
        with closing(self._connection()) as connection:
            response = self._response(connection, method, path, body)
            try:
                return response.read()
            except (OSError, http.client.HTTPException) as error:
                raise EngineBroke("the gateway closed the connection before its answer was whole") from error

    def _connection(self) -> http.client.HTTPConnection:
        if self._is_tls:
            return http.client.HTTPSConnection(self._host, self._port, timeout=self._timeout_s)
        return http.client.HTTPConnection(self._host, self._port, timeout=self._timeout_s)

    def _response(
        self, connection: http.client.HTTPConnection, method: str, path: str, body: Body | None
    ) -> http.client.HTTPResponse:
        content = None if body is None else msgspec.json.encode(body)
        try:
            connection.request(method, self._base + path, content, self._headers)
            response = connection.getresponse()
            if response.status == http.client.OK:
                return response
            text = response.read()
        except ssl.SSLError as error:
            raise GatewayUnreachable(f"{self.url} cannot be trusted or does not speak TLS: {error}") from error
        except TimeoutError as error:
            raise GatewayUnreachable(f"{self.url} did not answer in {self._timeout_s:g} s") from error
        except (OSError, http.client.HTTPException) as error:
            raise GatewayUnreachable(
                f"no gateway answers at {self.url}; start one with `heterodyne serve`, or name another with --url"
            ) from error
        raise GatewayRefused(f"{self.url} answered {response.status}: {_error_message(text)}")


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


def _decode(data: bytes, kind: type[Decoded]) -> Decoded:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.DecodeError as error:
        raise GatewayRefused(f"the answer is not of the OpenAI API: {error}") from error


def _error_message(body: bytes) -> str:
    """The sentence inside an error body, or a note that there is none."""
    try:
        failure = msgspec.json.decode(body, type=ChatChunk).error
    except msgspec.DecodeError:
        failure = None
    return failure.message if failure else "an error without a reason; is this an OpenAI-compatible gateway?"
