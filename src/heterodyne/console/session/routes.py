"""Signing in with a key and out again: the browser keeps a cookie that scripts cannot read, we keep its digest."""

from starlette.requests import Request
from starlette.responses import Response

from heterodyne import __version__
from heterodyne.console.access.operators import Person
from heterodyne.console.admin_route import AdminRoute
from heterodyne.console.errors import CrossSite, TooManySignIns
from heterodyne.console.guard import Guard, check_same_site, read_body
from heterodyne.console.render import answer
from heterodyne.console.session.cookie import drop_cookie, open_session
from heterodyne.console.session.pages import SessionPage, SignIn
from heterodyne.domain.errors import Unauthenticated, UnknownHost
from heterodyne.telemetry import log

PATH = "/session"
SIGN_IN_BYTES_MAX = 4096

_log = log.get("console")


def session_routes(guard: Guard, gateway_url: str) -> list[AdminRoute]:
    """Open without a key: before signing in they show only that no one is signed in."""
    endpoints = _SessionEndpoints(guard, gateway_url)
    return [
        AdminRoute(
            method="GET",
            path=PATH,
            endpoint=guard.open(endpoints.show),
            summary="Say who is signed in",
            answer=SessionPage,
            raises=(TooManySignIns, UnknownHost),
            is_open=True,
        ),
        AdminRoute(
            method="POST",
            path=PATH,
            endpoint=guard.open(endpoints.sign_in),
            summary="Sign in with a key",
            body=SignIn,
            answer=SessionPage,
            raises=(Unauthenticated, TooManySignIns, UnknownHost),
            is_open=True,
        ),
        AdminRoute(
            method="DELETE",
            path=PATH,
            endpoint=guard.open(endpoints.sign_out),
            summary="Sign out",
            answer=SessionPage,
            raises=(CrossSite, UnknownHost),
            is_open=True,
        ),
    ]


class _SessionEndpoints:
    """The three methods of `/session`."""

    def __init__(self, guard: Guard, gateway_url: str) -> None:
        self._guard = guard
        self._gateway_url = gateway_url

    async def show(self, request: Request) -> Response:
        try:
            return answer(self._page(self._guard.identify(request)))
        except Unauthenticated:
            return answer(self._page(None))

    async def sign_in(self, request: Request) -> Response:
        guard = self._guard
        guard.check_host(request)
        check_same_site(request)
        key = (await read_body(request, SignIn, SIGN_IN_BYTES_MAX)).key
        person = guard.by_key(request, f"Bearer {key}", how="session")
        response = answer(self._page(person))
        open_session(guard, response, person)
        address = "" if request.client is None else request.client.host
        _log.info("signed_in", who=person.who, role=person.role, address=address)
        return response

    async def sign_out(self, request: Request) -> Response:
        guard = self._guard
        guard.check_host(request)
        check_same_site(request)
        guard.sessions.close(request.cookies.get(guard.cookie, ""))
        response = answer(self._page(None))
        drop_cookie(guard, response)
        return response

    def _page(self, person: Person | None) -> SessionPage:
        needs_key, issuer = self._guard.operators.needs_key, self._guard.issuer_url
        if person is None:
            return SessionPage(who=None, role=None, needs_key=needs_key, issuer_url=issuer, product="", gateway_url="")
        return SessionPage(
            who=person.who,
            role=person.role,
            needs_key=needs_key,
            issuer_url=issuer,
            product=__version__,
            gateway_url=self._gateway_url,
        )
