"""The cookie of a session: scripts cannot read it, no other site sends it, and we keep its digest alone."""

import secrets
import time

from starlette.responses import Response

from heterodyne.console.access.operators import Person
from heterodyne.console.guard import Guard

TOKEN_BYTES = 32


def open_session(guard: Guard, response: Response, person: Person) -> None:
    """Begin one, where the person needs one."""
    if person.digest is None:
        return
    token = secrets.token_urlsafe(TOKEN_BYTES)
    guard.sessions.open(token, person.digest, time.monotonic())
    _set(guard, response, token, int(guard.sessions.whole_s))


def drop_cookie(guard: Guard, response: Response) -> None:
    """Have the browser forget it."""
    _set(guard, response, "", 0)


def _set(guard: Guard, response: Response, token: str, age_s: int) -> None:
    secure = "; Secure" if guard.is_https else ""
    cookie = f"{guard.cookie}={token}; Path=/; Max-Age={age_s}; HttpOnly; SameSite=Strict{secure}"
    response.headers.append("set-cookie", cookie)
