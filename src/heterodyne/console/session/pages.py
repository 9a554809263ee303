"""Who is looking at the console, and what they may do."""

from msgspec import Struct

from heterodyne.console.access.operators import OperatorRole


class SessionPage(Struct, frozen=True, kw_only=True):
    """`GET /session`, and the answer to signing in."""

    who: str | None  # None: nobody is signed in
    role: OperatorRole | None
    needs_key: bool
    issuer_url: str | None  # whom people may sign in with at `/sign-in`; None: with keys alone
    product: str  # the version
    gateway_url: str


class SignIn(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`POST /session`."""

    key: str

    def __repr__(self) -> str:
        return "SignIn()"

    __str__ = __repr__
