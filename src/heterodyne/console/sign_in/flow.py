"""Signing in with an issuer: the authorization code flow, with PKCE, state and nonce."""

import secrets
import time
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from heterodyne.console.access.operators import OperatorRole, Person
from heterodyne.console.sign_in.attempts import BegunSignIn, BegunSignIns, digest_of
from heterodyne.console.sign_in.settings import SignInSettings
from heterodyne.domain.errors import IssuerUnavailable, NotAllowed, TokenRefused, Unauthenticated
from heterodyne.identity.claims import claim_at, ends_at
from heterodyne.identity.compact_token import CompactToken, read_token, short
from heterodyne.identity.discovery import FETCH_TIMEOUT_S, Discovered, IssuerPlace, IssuerSilent
from heterodyne.identity.issuer import Issuer
from heterodyne.identity.settings import ALGORITHMS
from heterodyne.wire.connection_pool import ConnectionPool
from heterodyne.wire.errors import WireError
from heterodyne.wire.fetch import post

RETURN_PATH = "/sign-in/return"
NAME = "console"  # in the log and in metrics
SECRET_BYTES = 32
REFRESH_S = 300.0
KEPT_S = 86400.0
LEEWAY_S = 30.0


class _Exchanged(Struct):
    """The answer of the token endpoint, as far as it is needed: nothing is asked for in a person's name."""

    id_token: str


class SignInFlow:
    """One per console; belongs to one event loop."""

    def __init__(self, settings: SignInSettings, pool: ConnectionPool, environment: Mapping[str, str]) -> None:
        assert settings.issuer_url is not None
        assert settings.client_id is not None
        self._settings, self._client_id = settings, settings.client_id
        self._pool = pool
        self._environment = environment
        self._attempts = BegunSignIns()
        place = IssuerPlace(url=settings.issuer_url, tls_authorities=settings.tls_authorities)
        self._issuer = Issuer(NAME, place, refresh_s=REFRESH_S, kept_s=KEPT_S, clock=time.monotonic)
        self._return_url = f"{settings.console_url}{RETURN_PATH}"

    async def begin(self, browser: str) -> str:
        """Where this browser is sent. Raises IssuerUnavailable."""
        documents = await self._documents()
        state, nonce, verifier = (secrets.token_urlsafe(SECRET_BYTES) for _ in range(3))
        self._attempts.begin(
            state,
            BegunSignIn(browser_digest=digest_of(browser), nonce=nonce, verifier=verifier, began_s=time.monotonic()),
        )
        asked = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": self._return_url,
            "scope": "openid profile email",
            "state": state,
            "nonce": nonce,
            "code_challenge": urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        joint = "&" if "?" in documents.authorization_endpoint else "?"
        return documents.authorization_endpoint + joint + urlencode(asked)

    async def end(self, browser: str, said: Mapping[str, str]) -> Person:
        """Who has come back. Raises why nobody is signed in."""
        attempt = self._attempts.try_end(said.get("state", ""), browser, time.monotonic())
        if attempt is None:
            raise Unauthenticated("This sign-in was not begun in this browser, or too long ago: begin again.")
        if "code" not in said:
            raise Unauthenticated(
                f"The issuer has signed nobody in: {short(said.get('error', 'it does not say why'))}."
            )
        token = await self._checked(await self._exchange(said["code"], attempt))
        if token.claims.get("nonce") != attempt.nonce:
            raise TokenRefused("The ID token is of another sign-in (nonce).", reason="wrong_nonce")
        return self._person(token.claims)

    async def close(self) -> None:
        """No connection is left."""
        await self._pool.close()

    async def _documents(self) -> Discovered:
        if self._issuer.is_due:
            await self._issuer.refresh(self._pool)
        documents = self._issuer.documents
        if documents is None or not documents.authorization_endpoint or not documents.token_endpoint:
            raise IssuerUnavailable("The issuer that people sign in with cannot be asked; try again.", retry_after_s=5)
        return documents

    async def _exchange(self, code: str, attempt: BegunSignIn) -> str:
        """The ID token for a code, which whoever has it cannot use without what PKCE keeps here."""
        settings, documents = self._settings, await self._documents()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._return_url,
            "client_id": self._client_id,
            "code_verifier": attempt.verifier,
        }
        secret, headers = self._environment.get(settings.client_secret_env or "", ""), b""
        if secret and "client_secret_basic" in documents.token_endpoint_auth_methods_supported:
            pair = f"{quote(self._client_id, safe='')}:{quote(secret, safe='')}"
            headers = b"authorization: Basic " + b64encode(pair.encode()) + b"\r\n"
        elif secret:
            form["client_secret"] = secret
        try:
            address, path = self._issuer.place.address_of(documents.token_endpoint)
            answer = await post(
                self._pool,
                address,
                path,
                urlencode(form).encode(),
                timeout_s=FETCH_TIMEOUT_S,
                headers=headers,
                media_type="application/x-www-form-urlencoded",
            )
        except (WireError, IssuerSilent) as error:
            raise IssuerUnavailable("The issuer that people sign in with cannot be asked; try again.") from error
        if answer.status != 200:
            raise Unauthenticated(f"The issuer gives no token for this sign-in: it answers {answer.status}.")
        try:
            return msgspec.json.decode(answer.body, type=_Exchanged).id_token
        except (ValueError, RecursionError) as error:
            raise Unauthenticated("The issuer's answer has no ID token.") from error

    async def _checked(self, sent: str) -> CompactToken:
        token = read_token(sent.encode("utf-8", "replace"))
        if token.issuer != self._settings.issuer_url:
            raise TokenRefused("The ID token is of another issuer.", reason="unknown_issuer")
        if token.algorithm not in ALGORITHMS:
            raise TokenRefused(
                f"The ID token is signed by {short(token.algorithm)!r}, which is not taken here.",
                reason="bad_algorithm",
            )
        if not self._issuer.keys.knows(token):
            self._issuer.want_keys()
            await self._documents()
        self._issuer.check(token)
        ends_at(token.claims, (self._client_id,), time.time(), LEEWAY_S)
        if token.claims.get("azp", self._client_id) != self._client_id:
            raise TokenRefused("The ID token was issued to somebody else (azp).", reason="wrong_audience")
        return token

    def _person(self, claims: Mapping[str, Any]) -> Person:
        settings = self._settings
        words = set(claim_at(claims, settings.claim))
        names, subject = claim_at(claims, settings.name_claim), claims.get("sub")
        if not names or not isinstance(subject, str):
            raise TokenRefused("The ID token does not name the person.", reason="unknown_caller")
        who = short("".join(sign for sign in names[0] if sign.isprintable()))
        if words & set(settings.operators):
            role = OperatorRole.OPERATOR
        elif words & set(settings.viewers):
            role = OperatorRole.VIEWER
        else:
            raise NotAllowed(f"{who} is known to the issuer, and has no role here.")
        digest = sha256("\0".join((str(settings.issuer_url), subject, role)).encode("utf-8", "replace")).digest()
        return Person(who=who, role=role, digest=digest)
