"""A small blocking client of a gateway: one request, its answer whole or piece by piece, errors with names."""

import http.client
import ssl
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from types import MappingProxyType
from typing import TypeVar
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import CallerError, EngineBroke, HeterodyneError, OperatorError

JSON = MappingProxyType({"content-type": "application/json"})
SERVER_ERROR = 500  # of this and above nobody knows what was done

Decoded = TypeVar("Decoded")
Content = bytes | Iterable[bytes] | None  # pieces need a content-length among the headers


class GatewayUnreachable(OperatorError):
    """Nothing answers at the address."""

    code = "gateway_unreachable"


class GatewayRefused(HeterodyneError):
    """The gateway answered with an error; its own words are the message, its status ours."""

    code = "gateway_refused"


class GatewayFailure(Struct, frozen=True):
    message: str = "no reason given"


class GatewayFailureBody(Struct, frozen=True):
    """An error as the OpenAI API writes it."""

    error: GatewayFailure | None = None


class GatewayClient:
    """Speaks to one gateway; each request has a connection of its own."""

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
        self._key = {"authorization": f"Bearer {api_key}"} if api_key else {}
        self._timeout_s = timeout_s

    def whole(self, method: str, path: str, content: Content = None, headers: Mapping[str, str] = JSON) -> bytes:
        """The body of an answer; raises GatewayRefused where it is an error."""
        with self.exchange(method, path, content, headers) as response:
            try:
                return response.read()
            except (OSError, http.client.HTTPException) as error:
                raise EngineBroke("the gateway closed the connection before its answer was whole") from error

    @contextmanager
    def exchange(
        self, method: str, path: str, content: Content = None, headers: Mapping[str, str] = JSON
    ) -> Iterator[http.client.HTTPResponse]:
        """An answer to be read piece by piece. Leaving closes the connection, which cancels the work behind it."""
        connect = http.client.HTTPSConnection if self._is_tls else http.client.HTTPConnection
        with closing(connect(self._host, self._port, timeout=self._timeout_s)) as connection:
            yield self._response(connection, method, path, content, {**headers, **self._key})

    def _response(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        content: Content,
        headers: Mapping[str, str],
    ) -> http.client.HTTPResponse:
        try:
            with suppress(BrokenPipeError, ConnectionResetError):  # who refuses a long body answers before its end
                connection.request(method, self._base + path, content, headers)
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
        refused = GatewayRefused(f"{self.url} answered {response.status}: {_error_message(text)}")
        refused.status = response.status
        raise refused


def decoded(data: bytes, kind: type[Decoded]) -> Decoded:
    """An answer as what it is meant to be; raises GatewayRefused."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.DecodeError as error:
        raise GatewayRefused(f"the answer is not of the OpenAI API: {error}") from error


def _error_message(body: bytes) -> str:
    """The sentence inside an error body, or a note that there is none."""
    try:
        failure = msgspec.json.decode(body, type=GatewayFailureBody).error
    except msgspec.DecodeError:
        failure = None
    return failure.message if failure else "an error without a reason; is this an OpenAI-compatible gateway?"
