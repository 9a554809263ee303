"""The checks before every endpoint: the host name, the key or the session, the role, the form of the body.

The guard is part of the route's own endpoint. A rule about paths could be evaded with another spelling.
"""

import time
from collections.abc import Awaitable, Callable
from typing import TypeVar
from urllib.parse import urlsplit

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from heterodyne.admission.host_names import HostNames
from heterodyne.concurrency.deadline import deadline
from heterodyne.console.access.key_limit import KeyLimit
from heterodyne.console.access.known_people import KnownPeople
from heterodyne.console.access.operators import OperatorRole, Operators, Person
from heterodyne.console.access.sessions import Sessions
from heterodyne.console.admin_route import Endpoint
from heterodyne.console.errors import CrossSite, ReadOnly
from heterodyne.console.render import answer, error_answer
from heterodyne.console.settings import ConsoleSettings
from heterodyne.domain.errors import (
    BodyTooLarge,
    HeterodyneError,
    InternalError,
    InvalidField,
    MalformedJson,
    RequestTooSlow,
    Unauthenticated,
    UnknownHost,
    UnsupportedMediaType,
)
from heterodyne.telemetry import log, metrics

BODY_BYTES_MAX = 16384
QUESTION_BYTES_MAX = 4 << 20  # it may bring a prompt
BODY_TIMEOUT_S = 5.0
COOKIE = "heterodyne_session"
PAGE_HEADER = "x-heterodyne-console"  # a page of another site can send it only after a preflight

_log = log.get("console")

Body = TypeVar("Body")


class Guard:
    """One per admin port."""

    def __init__(
        self,
        operators: Operators,
        host_names: HostNames,
        sessions: Sessions | None = None,
        *,
        is_https: bool = False,
        issuer_url: str | None = None,
    ) -> None:
        """`issuer_url`: people may sign in there, and are in `people` then."""
        self.operators = operators
        self.people = KnownPeople()
        self.issuer_url = issuer_url
        self.sessions = Sessions() if sessions is None else sessions
        self._key_limit = KeyLimit()
        # A browser takes a cookie of this prefix by https alone, and from no other host.
        self.cookie = f"__Host-{COOKIE}" if is_https else COOKIE
        self.is_https = is_https
        self._host_names = host_names

    @classmethod
    def of(cls, settings: ConsoleSettings, sessions: Sessions | None = None, issuer_url: str | None = None) -> "Guard":
        """By the settings; without `sessions` they end with the process."""
        return cls(
            _operators(settings, issuer_url),
            _host_names(settings, issuer_url),
            sessions,
            is_https=settings.is_https,
            issuer_url=issuer_url,
        )

    def take(self, settings: ConsoleSettings) -> None:
        """Other keys from the next request on; sessions of keys that are gone are over."""
        issuer_url = self.issuer_url
        self.operators, self._host_names = _operators(settings, issuer_url), _host_names(settings, issuer_url)
        self.sessions.keep_only(self.operators.digests | self.people.digests)

    def reading(self, read: Callable[[Request], Awaitable[object]]) -> Endpoint:
        """An endpoint that shows something."""

        async def show(request: Request) -> Response:
            return answer(await read(request))

        return self.showing(show)

    def showing(self, show: Callable[[Request], Awaitable[Response]]) -> Endpoint:
        """An endpoint that shows something in a form of its own."""

        async def shown(request: Request) -> Response:
            self.identify(request)
            return await show(request)

        return self.open(shown)

    def asking(self, kind: type[Body], handle: Callable[[Body], Awaitable[object]]) -> Endpoint:
        """An endpoint that answers a question in its body, and changes nothing."""

        async def read(request: Request) -> object:
            return await handle(await read_body(request, kind, QUESTION_BYTES_MAX))

        return self.reading(read)

    def using(self, kind: type[Body], use: Callable[[Body, str], Awaitable[Response]]) -> Endpoint:
        """An endpoint that changes nothing and costs something, so that it is for operators."""

        async def used(request: Request) -> Response:
            person = self.identify(request)
            _check_operator(person)
            return await use(await read_body(request, kind, QUESTION_BYTES_MAX), person.who)

        return self.open(used)

    def open(self, act: Callable[[Request], Awaitable[Response]]) -> Endpoint:
        """An endpoint without a key; every endpoint but those that change something is one underneath."""

        async def endpoint(request: Request) -> Response:
            try:
                return await act(request)
            except HeterodyneError as error:
                return error_answer(error)
            except Exception as error:  # noqa: BLE001  # the root of a request
                return _broken(error)

        return endpoint

    def changing(
        self, event: str, name: str, kind: type[Body], change: Callable[[Body, str], Awaitable[object]]
    ) -> Endpoint:
        """An endpoint that changes something in a person's name; every attempt is logged under the event's name."""

        async def endpoint(request: Request) -> Response:
            who, what, outcome = "nobody", "", "done"
            try:
                person = self.identify(request)
                who = person.who
                _check_operator(person)
                body = await read_body(request, kind, BODY_BYTES_MAX)
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

    def identify(self, request: Request) -> Person:
        """The person behind a request, by its key or its session; raises where it has neither."""
        self.check_host(request)
        authorization = request.headers.get("authorization")
        if authorization is None and self.operators.needs_key:
            token = request.cookies.get(self.cookie, "")
            now_s = time.monotonic()
            digest = self.sessions.try_use(token, now_s) if token else None
            person = None
            if digest is not None:
                person = self.operators.try_by_digest(digest) or self.people.try_find(digest, now_s)
            if person is not None:
                if request.method not in ("GET", "HEAD"):
                    check_same_site(request)
                return person
        return self.by_key(request, authorization, how="bearer")

    def by_key(self, request: Request, authorization: str | None, *, how: str) -> Person:
        """The owner of the key in a header; wrong keys are counted by the address they come from, and limited."""
        if authorization is None or not self.operators.needs_key:
            return self.operators.identify(authorization)
        address, now_s = "" if request.client is None else request.client.host, time.monotonic()
        self._key_limit.check(address, now_s)
        try:
            return self.operators.identify(authorization)
        except Unauthenticated:
            self._key_limit.note_wrong(address, authorization, now_s)
            metrics.sign_ins_failed.add((how,))
            _log.warning("sign_in_failed", address=address, how=how)
            raise

    def check_host(self, request: Request) -> None:
        """Raise where the port has no keys and was called by a name that is not its own."""
        host = request.headers.get("host")
        try:
            self._host_names.check(None if host is None else host.encode("latin-1"))
        except UnknownHost as error:
            raise UnknownHost(
                f"The admin API is not called {(host or '')[:100]!r}. Ask it by its own address, name it in "
                "`console.host_names`, or give it keys."
            ) from error


def check_same_site(request: Request) -> None:
    """Raise unless the console's own page sent it: a browser adds the cookie to requests of any page, and names the
    page in a header."""
    headers = request.headers
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None:
        is_own = site == "same-origin"
    else:
        is_own = origin is not None and urlsplit(origin).netloc == headers.get("host")
    if not is_own or headers.get(PAGE_HEADER) != "1":
        raise CrossSite(
            f"With a session only the console's own page may ask for this: it sends `{PAGE_HEADER}: 1` and an `Origin` "
            "that is this host. Programs send `Authorization: Bearer <key>` instead."
        )


async def read_body(request: Request, kind: type[Body], bytes_max: int) -> Body:
    """Only declared JSON: a page of another site can send that to a loopback port only after a preflight."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise UnsupportedMediaType("Send the body as JSON with the header `Content-Type: application/json`.")
    content = bytearray()
    try:
        async with deadline(BODY_TIMEOUT_S):
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
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedJson(f"The body is not JSON: {error}.") from error


def _broken(error: Exception) -> Response:
    _log.error("admin_request_failed", exc_info=error)
    return error_answer(InternalError("An internal error; the log has the details."))


def _check_operator(person: Person) -> None:
    if person.role is not OperatorRole.OPERATOR:
        raise ReadOnly("This key is for looking: an operator's key is needed.")


def _operators(settings: ConsoleSettings, issuer_url: str | None) -> Operators:
    return Operators(settings.operator_keys_sha256, settings.viewer_keys_sha256, has_issuer=issuer_url is not None)


def _host_names(settings: ConsoleSettings, issuer_url: str | None) -> HostNames:
    has_keys = bool(settings.operator_keys_sha256) or issuer_url is not None
    return HostNames((settings.host, *settings.host_names), has_keys=has_keys)
