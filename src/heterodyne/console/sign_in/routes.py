"""Where a browser leaves for the issuer, and where it comes back."""

import secrets
import time

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from heterodyne.console.guard import Guard
from heterodyne.console.session.cookie import open_session
from heterodyne.console.sign_in.attempts import WHOLE_S
from heterodyne.console.sign_in.flow import RETURN_PATH, SignInFlow
from heterodyne.domain.errors import HeterodyneError
from heterodyne.telemetry import log, metrics

BEGIN_PATH = "/sign-in"
COOKIE = "heterodyne_sign_in"
COOKIE_BYTES = 32

_log = log.get("console")


def sign_in_routes(guard: Guard, flow: SignInFlow | None) -> list[Route]:
    """Pages of a browser and no part of the admin API; none without an issuer."""
    if flow is None:
        return []
    endpoints = _SignInEndpoints(guard, flow)
    return [
        Route(BEGIN_PATH, endpoints.begin, methods=["GET"]),
        Route(RETURN_PATH, endpoints.end, methods=["GET"]),
    ]


class _SignInEndpoints:
    """Both ends of a sign-in. What goes wrong is told on the console's own page, by its code alone."""

    def __init__(self, guard: Guard, flow: SignInFlow) -> None:
        self._guard = guard
        self._flow = flow
        self._cookie = f"__Host-{COOKIE}" if guard.is_https else COOKIE

    async def begin(self, request: Request) -> Response:
        browser = secrets.token_urlsafe(COOKIE_BYTES)
        try:
            self._guard.check_host(request)
            response = RedirectResponse(await self._flow.begin(browser), status_code=303)
        except HeterodyneError as error:
            return self._refused(request, error)
        self._set_cookie(response, browser, int(WHOLE_S))
        return response

    async def end(self, request: Request) -> Response:
        try:
            self._guard.check_host(request)
            person = await self._flow.end(request.cookies.get(self._cookie, ""), request.query_params)
        except HeterodyneError as error:
            metrics.sign_ins_failed.add(("issuer",))
            return self._refused(request, error)
        self._guard.people.add(person, time.monotonic())
        response = RedirectResponse("/", status_code=303)
        open_session(self._guard, response, person)
        self._set_cookie(response, "", 0)
        _log.info("signed_in", who=person.who, role=person.role, address=_address(request), how="issuer")
        return response

    def _refused(self, request: Request, error: HeterodyneError) -> Response:
        _log.warning("sign_in_failed", address=_address(request), how="issuer", error=error.message)
        return RedirectResponse(f"/?sign-in={error.code}", status_code=303)

    def _set_cookie(self, response: Response, value: str, age_s: int) -> None:
        """Lax: the browser comes back from another site, by a link."""
        secure = "; Secure" if self._guard.is_https else ""
        cookie = f"{self._cookie}={value}; Path=/; Max-Age={age_s}; HttpOnly; SameSite=Lax{secure}"
        response.headers.append("set-cookie", cookie)


def _address(request: Request) -> str:
    return "" if request.client is None else request.client.host
