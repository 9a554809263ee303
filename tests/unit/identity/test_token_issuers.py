"""Tokens of a real issuer over TLS of this machine: which open, what is said of the others, and what it is asked."""

import asyncio
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from heterodyne.domain.errors import IssuerUnavailable, TokenRefused
from heterodyne.domain.issued_token import IssuedToken
from heterodyne.identity import token_issuers
from heterodyne.identity.issuer import PAUSE_S
from heterodyne.identity.token_issuers import TokenIssuers
from heterodyne.telemetry import metrics
from heterodyne.testing.token_issuer import TokenIssuer
from heterodyne.wire.connection_pool import ConnectionPool
from tests.support.issuers import Trusted, trusted_issuer

HOUR_S = 3600.0


class Desk:
    """Checks tokens of one issuer, by a clock that a test sets forward."""

    def __init__(self, trusted: Trusted) -> None:
        self.trusted = trusted
        self.issuer = trusted.issuer
        self.later_s = 0.0
        self.withdrawn = 0
        self.tokens = TokenIssuers(ConnectionPool(asyncio.get_running_loop(), idle_max=0), self._clock)
        self.tokens.on_withdrawn = self._withdraw

    def check(self, token: str, *, now_s: float | None = None) -> IssuedToken:
        sent = token.encode()
        return self.tokens.check(sent, sha256(sent).digest(), time.time() if now_s is None else now_s)

    def refused(self, token: str, *, now_s: float | None = None) -> TokenRefused:
        with pytest.raises(TokenRefused) as caught:
            self.check(token, now_s=now_s)
        return caught.value

    def _clock(self) -> float:
        return time.monotonic() + self.later_s

    def _withdraw(self) -> None:
        self.withdrawn += 1


@asynccontextmanager
async def desk(folder: Path, **settings: Any) -> AsyncIterator[Desk]:
    async with trusted_issuer(folder) as trusted:
        found = Desk(trusted)
        found.tokens.configure({"corp": trusted.settings(**{"callers": {"ada": "key_ada"}, **settings})})
        await found.tokens.refresh()
        try:
            yield found
        finally:
            await found.tokens.close()


@pytest.mark.parametrize("algorithm", ["ES256", "RS256", "PS256"])
async def test_a_token_stands_for_a_key_until_it_ends(tmp_path: Path, algorithm: str) -> None:
    async with desk(tmp_path) as at:
        at.issuer.rotate("other", algorithm=algorithm)
        at.later_s = HOUR_S
        await at.tokens.refresh()
        issued = at.check(at.issuer.token(exp=int(time.time()) + 100))
        assert issued.stands_for == "key_ada"
        assert issued.ends_at == pytest.approx(time.time() + 130, abs=20)


@pytest.mark.parametrize(
    ("claims", "settings", "stands_for"),
    [
        ({"sub": "bob"}, {"callers": {"bob": "acme/search"}}, "token:acme/search"),
        ({"sub": "team-a/bob"}, {"callers": {"team-a/*": "key_a", "*": "key_any"}}, "key_a"),
        ({"realm": {"groups": ["x", "search"]}}, {"claim": ("realm", "groups"), "callers": {"search": "k"}}, "k"),
        ({"tenant": "acme/search"}, {"claim": ("tenant",), "projects": ("acme/*",)}, "token:acme/search"),
    ],
)
async def test_a_claim_says_whose_a_token_is(
    tmp_path: Path, claims: dict[str, Any], settings: dict[str, Any], stands_for: str
) -> None:
    async with desk(tmp_path, **settings) as at:
        assert at.check(at.issuer.token(**claims)).stands_for == stands_for


WRONG: dict[str, tuple[Callable[[TokenIssuer], str], str, str]] = {
    "expired": (lambda one: one.token(exp=time.time() - 100), "expired", "expired 1"),
    "not begun": (lambda one: one.token(nbf=time.time() + 100), "not_yet_valid", "not yet"),
    "of the future": (lambda one: one.token(iat=time.time() + 100), "not_yet_valid", "clock"),
    "without an end": (lambda one: one.token(exp=None), "malformed", "exp"),
    "an end that is no time": (lambda one: one.token(nbf=True), "malformed", "nbf"),
    "for others": (lambda one: one.token(aud=["billing"]), "wrong_audience", "billing"),
    "for nobody": (lambda one: one.token(aud=None), "wrong_audience", "audience"),
    "of a stranger": (lambda one: one.token(iss="https://elsewhere.example"), "unknown_issuer", "elsewhere.example"),
    "of nobody": (lambda one: one.token(iss=None), "unknown_issuer", "iss"),
    "unsigned": (lambda one: one.unsigned(), "unsigned", "not signed"),
    "signed by what all know": (lambda one: one.signed_by_what_all_know(), "bad_algorithm", "HS256"),
    "changed": (lambda one: changed(one.token()), "bad_signature", "signature"),
    "with a critical extension": (lambda one: one.token(headers={"crit": ["x"], "x": 1}), "malformed", "crit"),
    "huge": (lambda one: one.token(more="x" * 20_000), "too_large", "bytes"),
    "with a huge header": (lambda one: one.token(headers={"more": "x" * 5_000}), "too_large", "header"),
    "no JSON": (lambda one: "eyJ." + one.token().partition(".")[2], "malformed", "header"),
    "of somebody unknown": (lambda one: one.token(sub="eve"), "unknown_caller", "eve"),
}


def changed(token: str) -> str:
    """The claims of another person, under the signature of the first."""
    header, claims, signature = token.split(".")
    said = urlsafe_b64decode(claims + "=" * (-len(claims) % 4)).replace(b'"ada"', b'"eve"')
    return f"{header}.{urlsafe_b64encode(said).rstrip(b'=').decode()}.{signature}"


@pytest.mark.parametrize("name", WRONG)
async def test_what_is_wrong_of_a_token_is_said_and_counted(tmp_path: Path, name: str) -> None:
    make, reason, told = WRONG[name]
    async with desk(tmp_path) as at:
        token = make(at.issuer)
        is_read = reason not in ("unsigned", "too_large", "unknown_issuer") and told not in ("crit", "header")
        issuer = "corp" if is_read else "unknown"
        before = metrics.tokens_refused.cell((issuer, reason))[0]
        error = at.refused(token)
        assert (error.reason, told in error.message) == (reason, True), error.message
        assert (error.status, error.code) == (401, "invalid_token")
        assert token not in error.message
        assert metrics.tokens_refused.cell((issuer, reason))[0] == before + 1


async def test_clocks_may_be_apart_by_the_leeway(tmp_path: Path) -> None:
    async with desk(tmp_path, leeway_s=60) as at:
        token = at.issuer.token(exp=1000, iat=900, nbf=900)
        for now_s, is_good in ((839, False), (841, True), (1059, True), (1061, False)):
            at.tokens.configure({})
            at.tokens.configure({"corp": at.trusted.settings(callers={"ada": "k"}, leeway_s=60)})
            await at.tokens.refresh()
            if is_good:
                assert at.check(token, now_s=now_s).ends_at == 1060
            else:
                at.refused(token, now_s=now_s)


async def test_a_key_of_tomorrow_is_asked_for_when_a_token_names_it_and_not_at_every_one(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        old = at.issuer.token()
        at.issuer.rotate("second")
        asked = len(at.issuer.asked)
        assert at.refused(at.issuer.token()).reason == "unknown_key"  # it was asked a moment ago
        await at.tokens.refresh()
        assert len(at.issuer.asked) == asked

        at.later_s = PAUSE_S
        with pytest.raises(IssuerUnavailable, match="new key"):
            at.check(at.issuer.token())
        await at.tokens.refresh()
        assert len(at.issuer.asked) == asked + 2
        assert at.check(at.issuer.token()).stands_for == "key_ada"
        assert at.refused(old).reason == "unknown_key"
        for made_up in range(20):
            at.refused(at.issuer.token(headers={"kid": f"made up {made_up}"}))
            await at.tokens.refresh()
        assert len(at.issuer.asked) == asked + 2


async def test_a_token_that_was_found_good_is_forgotten_with_the_key_that_signed_it(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        token = at.issuer.token()
        at.check(token)
        at.issuer.rotate("second", keeps_others=True)
        at.later_s = HOUR_S
        await at.tokens.refresh()
        assert at.withdrawn == 0  # there are more keys, and none is gone
        at.check(token)
        at.issuer.rotate("third")
        at.later_s = 2 * HOUR_S
        await at.tokens.refresh()
        assert at.withdrawn == 1
        assert at.refused(token).reason == "unknown_key"


async def test_while_the_issuer_is_away_its_keys_hold_and_not_for_ever(tmp_path: Path) -> None:
    async with desk(tmp_path, keys_kept_h=2) as at:
        await at.issuer.close()
        before = metrics.issuer_fetches.cell(("corp", "failed"))[0]
        at.later_s = HOUR_S
        await at.tokens.refresh()
        assert metrics.issuer_fetches.cell(("corp", "failed"))[0] == before + 1
        at.check(at.issuer.token(jti="an hour later"))
        at.later_s = 3 * HOUR_S
        with pytest.raises(IssuerUnavailable, match="corp"):
            at.check(at.issuer.token(jti="three hours later"))
        await at.issuer.open()
        await at.tokens.refresh()
        at.check(at.issuer.token())


@pytest.mark.parametrize("fault", ["another name", "another authority", "no such realm"])
async def test_keys_of_whoever_is_not_the_issuer_are_not_taken(tmp_path: Path, fault: str) -> None:
    async with desk(tmp_path) as at:
        more: dict[str, Any] = {"callers": {"ada": "key_other"}}
        if fault == "another name":
            at.issuer.calls_itself = "https://elsewhere.example"
        elif fault == "another authority":
            more["tls_authorities"] = None
        else:
            more["issuer_url"] = at.issuer.url + "/none"
        at.tokens.configure({"corp": at.trusted.settings(**more)})
        await at.tokens.refresh()
        with pytest.raises(IssuerUnavailable):
            at.check(at.issuer.token(iss=more.get("issuer_url", at.issuer.url)))


async def test_no_more_tokens_are_remembered_than_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_issuers, "SEEN_MAX", 2)
    async with desk(tmp_path) as at:
        for number in range(4):
            at.check(at.issuer.token(jti=str(number)))
        assert len(at.tokens._seen) == 2


async def test_an_issuer_that_is_taken_out_of_the_settings_is_a_stranger_at_once(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        token = at.issuer.token()
        at.check(token)
        at.tokens.configure({})
        assert at.refused(token).reason == "unknown_issuer"
