"""Signing in to the console with a real issuer on this machine: who comes in as what, and who does not."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from msgspec import structs

from heterodyne.console.app import admin_app
from heterodyne.console.guard import COOKIE, Guard
from heterodyne.console.settings import ConsoleSettings
from heterodyne.console.sign_in import attempts
from heterodyne.console.sign_in.attempts import BegunSignIn, BegunSignIns, digest_of
from heterodyne.console.sign_in.flow import SignInFlow
from heterodyne.console.sign_in.settings import SignInSettings
from heterodyne.testing.token_issuer import TokenIssuer
from heterodyne.wire.connection_pool import ConnectionPool
from tests.support.admin_fleets import ScriptedFleet
from tests.support.asgi import AsgiAnswer, ask
from tests.support.consoles import BROWSER, instruments
from tests.support.issuers import trusted_issuer
from tests.support.store_services import store_services

CONSOLE_URL = "http://127.0.0.1:8081"
SECRET = "a secret & more"


class Browser:
    """Keeps cookies, and follows nobody."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.cookies: dict[str, str] = {}

    async def get(self, path: str, **headers: str) -> AsgiAnswer:
        cookie = {"cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        answer = await ask(self._app, "GET", path, headers={**BROWSER, **cookie, **headers}, pieces=[b""])
        for set_cookie in answer.all_of("set-cookie"):
            name, _, value = set_cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        return answer

    async def leave(self) -> str:
        """What the issuer is asked."""
        answer = await self.get("/sign-in")
        assert answer.status == 303
        return urlsplit(answer.headers["location"]).query


class World:
    """A console with an issuer."""

    def __init__(self, issuer: TokenIssuer, guard: Guard, app: Any) -> None:
        self.issuer = issuer
        self.guard = guard
        self.app = app

    def browser(self) -> Browser:
        return Browser(self.app)

    async def sign_in(self, browser: Browser) -> AsgiAnswer:
        """There and back; the answer when it is back."""
        back = urlsplit(self.issuer.signed_in(await browser.leave()))
        return await browser.get(f"{back.path}?{back.query}")


@asynccontextmanager
async def world(folder: Path, **settings: Any) -> AsyncIterator[World]:
    async with trusted_issuer(folder) as trusted:
        trusted.issuer.person = {"sub": "ada", "groups": ["gateway-operators"]}
        given = SignInSettings(
            **{
                "issuer_url": trusted.issuer.url,
                "client_id": "console",
                "console_url": CONSOLE_URL,
                "operators": ("gateway-operators",),
                "viewers": ("staff",),
                "tls_authorities": str(trusted.authority.file),
                **settings,
            }
        )
        flow = SignInFlow(given, ConnectionPool(asyncio.get_running_loop(), idle_max=0), {"SECRET": SECRET})
        guard = Guard.of(ConsoleSettings(), None, given.issuer_url)
        parts = structs.replace(instruments(ConsoleSettings()), guard=guard, sign_in=flow)
        try:
            yield World(trusted.issuer, guard, admin_app(ConsoleSettings(), ScriptedFleet(), store_services(), parts))
        finally:
            await flow.close()


@pytest.mark.parametrize(
    ("person", "role", "status"),
    [({"groups": ["gateway-operators", "staff"]}, "operator", 200), ({"groups": ["staff"]}, "viewer", 403)],
)
async def test_a_claim_says_what_a_person_may_do(
    tmp_path: Path, person: dict[str, Any], role: str, status: int
) -> None:
    async with world(tmp_path) as at:
        at.issuer.person = {"sub": "ada", **person}
        browser = at.browser()
        assert (await browser.get("/admin/fleet")).status == 401
        assert (await browser.get("/session")).json()["issuer_url"] == at.issuer.url
        back = await at.sign_in(browser)
        assert (back.status, back.headers["location"]) == (303, "/")
        page = (await browser.get("/session")).json()
        assert (page["who"], page["role"]) == ("ada", role)
        cookie = f"{COOKIE}={browser.cookies[COOKIE]}"
        drained = await ask(
            at.app, "POST", "/admin/fleet/drain", headers={**BROWSER, "cookie": cookie}, pieces=[b'{"pool":"chat"}']
        )
        assert drained.status == status


async def test_the_cookie_of_a_session_is_as_with_a_key_and_that_of_the_way_comes_back_from_another_site(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as at:
        browser = at.browser()
        [way] = (await browser.get("/sign-in")).all_of("set-cookie")
        assert way.endswith("; Path=/; Max-Age=600; HttpOnly; SameSite=Lax")
        session, gone = (await at.sign_in(browser)).all_of("set-cookie")
        assert session.endswith("; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict")
        assert "Max-Age=0" in gone


async def test_who_has_no_role_is_told_so_and_not_let_in(tmp_path: Path) -> None:
    async with world(tmp_path) as at:
        at.issuer.person = {"sub": "eve", "groups": ["others"]}
        browser = at.browser()
        assert (await at.sign_in(browser)).headers["location"] == "/?sign-in=not_allowed"
        assert COOKIE not in browser.cookies
        assert (await browser.get("/admin/fleet")).status == 401


WRONG = {
    "another nonce": {"nonce": "another"},
    "no nonce": {"nonce": None},
    "for another client": {"aud": "others"},
    "issued to another client": {"azp": "others"},
    "over": {"exp": 1000},
    "of another issuer": {"iss": "https://elsewhere.example"},
    "of nobody": {"sub": None},
}


@pytest.mark.parametrize("name", WRONG)
async def test_an_id_token_that_is_not_for_this_sign_in_opens_nothing(tmp_path: Path, name: str) -> None:
    async with world(tmp_path, name_claim=("groups",)) as at:
        at.issuer.person.update(WRONG[name])
        browser = at.browser()
        assert (await at.sign_in(browser)).headers["location"] == "/?sign-in=invalid_token"
        assert COOKIE not in browser.cookies


async def test_what_comes_back_counts_once_and_in_the_browser_that_left(tmp_path: Path) -> None:
    async with world(tmp_path) as at:
        browser, other = at.browser(), at.browser()
        back = urlsplit(at.issuer.signed_in(await browser.leave()))
        path = f"{back.path}?{back.query}"
        refused = "/?sign-in=invalid_api_key"
        assert (await other.get(path)).headers["location"] == refused  # a link that somebody was sent
        assert (await browser.get(path.replace("state=", "state=x"))).headers["location"] == refused
        assert (await browser.get(path)).headers["location"] == "/"
        assert (await browser.get(path)).headers["location"] == refused
        assert len(at.issuer.forms) == 1


async def test_the_code_alone_opens_nothing_at_the_issuer(tmp_path: Path) -> None:
    async with world(tmp_path) as at:
        browser = at.browser()
        asked = parse_qs(await browser.leave())
        assert asked["code_challenge_method"] == ["S256"]
        back = await at.sign_in(browser)
        assert back.headers["location"] == "/"
        verifier = at.issuer.forms[0]["code_verifier"]
        assert len(verifier) >= 43
        assert verifier not in str(asked)


@pytest.mark.parametrize("ways", [("client_secret_post",), ("client_secret_basic", "client_secret_post")])
async def test_a_console_with_a_secret_shows_it_as_the_issuer_takes_it(tmp_path: Path, ways: tuple[str, ...]) -> None:
    async with world(tmp_path, client_secret_env="SECRET") as at:
        at.issuer.client_secret, at.issuer.client_secret_ways = SECRET, ways
        assert (await at.sign_in(at.browser())).headers["location"] == "/"
        assert ("client_secret" in at.issuer.forms[0]) == (ways == ("client_secret_post",))


async def test_whom_the_issuer_refuses_or_who_is_not_there_is_told_on_the_page(tmp_path: Path) -> None:
    async with world(tmp_path) as at:
        at.issuer.refuses_sign_in = "access_denied"
        assert (await at.sign_in(at.browser())).headers["location"] == "/?sign-in=invalid_api_key"
    async with world(tmp_path) as at:
        await at.issuer.close()
        assert (await at.browser().get("/sign-in")).headers["location"] == "/?sign-in=issuer_unavailable"


async def test_a_key_of_the_issuer_that_is_new_is_asked_for_and_people_stay_signed_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path) as at:
        first, second = at.browser(), at.browser()
        await at.sign_in(first)
        monkeypatch.setattr("heterodyne.identity.issuer.PAUSE_S", 0.0)
        at.issuer.rotate("second")
        assert (await at.sign_in(second)).headers["location"] == "/"
        at.guard.take(ConsoleSettings())
        assert (await first.get("/admin/fleet")).status == 200


async def test_who_was_vouched_for_yesterday_signs_in_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path) as at:
        browser = at.browser()
        await at.sign_in(browser)
        monkeypatch.setattr("heterodyne.console.access.known_people.WHOLE_S", 0.0)
        assert (await browser.get("/admin/fleet")).status == 401


def test_sign_ins_that_never_come_back_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "ATTEMPTS_MAX", 2)
    begun = BegunSignIns()
    for number in range(3):
        digest = digest_of("browser")
        begun.begin(str(number), BegunSignIn(browser_digest=digest, nonce="n", verifier="v", began_s=0.0))
    assert begun.try_end("0", "browser", 1.0) is None
    assert begun.try_end("1", "browser", 1.0) is not None
    assert begun.try_end("2", "browser", 601.0) is None
