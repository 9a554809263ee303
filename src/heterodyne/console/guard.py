"""What stands before every endpoint that is not open: the name it was called by, the key, the form of the body.

The guard is part of the route's own endpoint. A rule that looked at paths could be talked past with another spelling.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from heterodyne.admission.host_names import HostNames
from heterodyne.console.admin_route import Endpoint
from heterodyne.console.operators import Operators
from heterodyne.console.render import answer, error_answer
from heterodyne.domain.errors import (
    BodyTooLarge,
    HeterodyneError,
    InternalError,
    InvalidField,
    MalformedJson,
    RequestTooSlow,
    UnknownHost,
    UnsupportedMediaType,
)
from heterodyne.telemetry import log

BODY_BYTES_MAX = 16384
QUESTION_BYTES_MAX = 4 << 20  # it may bring a prompt
BODY_TIMEOUT_S = 5.0

_log = log.get("console")

Body = TypeVar("Body")


class Guard:
    """One per door."""

    def __init__(self, operators: Operators, host_names: HostNames) -> None:
        self._operators = operators
        self._host_names = host_names

    def reading(self, read: Callable[[Request], Awaitable[object]]) -> Endpoint:
        """An endpoint that shows something."""

        async def endpoint(request: Request) -> Response:
            try:
                self._identify(request)
                return answer(await read(request))
            except HeterodyneError as error:
                return error_answer(error)
            except Exception as error:  # noqa: BLE001  # the root of a request
                return _broken(error)

        return endpoint

    def asking(self, kind: type[Body], ask: Callable[[Body], Awaitable[object]]) -> Endpoint:
        """An endpoint that shows something about what its body says, and changes nothing."""

        async def read(request: Request) -> object:
            return await ask(await _body(request, kind, QUESTION_BYTES_MAX))

        return self.reading(read)

    def changing(
        self, event: str, name: str, kind: type[Body], change: Callable[[Body, str], Awaitable[object]]
    ) -> Endpoint:
        """An endpoint that changes something in somebody's name; the log has every attempt under the event's name."""

        async def endpoint(request: Request) -> Response:
            who, what, outcome = "nobody", "", "done"
            try:
                who = self._identify(request)
                body = await _body(request, kind, BODY_BYTES_MAX)
                what = str(body)
                return answer(await change(body, who))
            except HeterodyneError as error:
                outcome = error.code
                return error_answer(error)
            except Exception as error:  # noqa: BLE001  # the root of a request
                outcome = InternalError.code
                return _broken(error)
            finally:
                _log.info(event, who=who, change=name, what=what, outcome=outcome)

        return endpoint

    def _identify(self, request: Request) -> str:
        host = request.headers.get("host")
        try:
            self._host_names.check(None if host is None else host.encode("latin-1"))
        except UnknownHost as error:
            raise UnknownHost(
                f"The admin API is not called {(host or '')[:100]!r}. Ask it by its own address, name it in "
                "`console.host_names`, or give it keys."
            ) from error
        return self._operators.identify(request.headers.get("authorization"))


async def _body(request: Request, kind: type[Body], bytes_max: int) -> Body:
    """Only declared JSON: a web page cannot send that to a loopback port without being asked first."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise UnsupportedMediaType("Send the body as JSON with the header `Content-Type: application/json`.")
    content = bytearray()
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            async for piece in request.stream():
                content += piece
                if len(content) > bytes_max:
                    raise BodyTooLarge(f"The body fits into {bytes_max} bytes.")
    except TimeoutError as error:
        raise RequestTooSlow(f"The body was not complete within {BODY_TIMEOUT_S:g} s.") from error
    except ClientDisconnect as error:
        raise MalformedJson("The body was cut short.") from error
    try:
        return msgspec.json.decode(content or b"{}", type=kind)
    except msgspec.ValidationError as error:
        raise InvalidField(f"{error}.") from error
    except msgspec.DecodeError as error:
        raise MalformedJson(f"The body is not JSON: {error}.") from error


def _broken(error: Exception) -> Response:
    _log.error("admin_request_failed", exc_info=error)
    return error_answer(InternalError("An internal error; the log has the details."))
