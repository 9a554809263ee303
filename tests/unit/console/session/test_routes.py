"""Signing in and out, what a session may do, and what another page may not do with it."""

import hashlib
import json

import pytest
from starlette.applications import Starlette

from heterodyne.console.access.key_limit import KEYS_OF_ADDRESS_MAX
from heterodyne.console.app import admin_app
from heterodyne.console.guard import COOKIE, Guard
from heterodyne.console.settings import ConsoleSettings
from heterodyne.telemetry import metrics
from tests.support.admin_fleets import ScriptedFleet
from tests.support.asgi import AsgiAnswer, ask
from tests.support.consoles import BROWSER, HOST, instruments
from tests.support.store_services import store_services


def digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


KEYED = ConsoleSettings(operator_keys_sha256=(digest("operator"),), viewer_keys_sha256=(digest("viewer"),))
DRAIN = json.dumps({"pool": "chat"}).encode()
CHAT = json.dumps({"model": "chat", "messages": [{"role": "user", "content": "hi"}]}).encode()


class Browser:
    """Keeps the cookie, and says what a browser says."""

    def __init__(self, settings: ConsoleSettings = KEYED) -> None:
        self.parts = instruments(settings)
        self.guard: Guard = self.parts.guard
        self.app: Starlette = admin_app(settings, ScriptedFleet(), store_services(), self.parts)
        self.cookie = ""

    async def ask(self, method: str, path: str, body: bytes = b"", **headers: str | None) -> AsgiAnswer:
        """A header that is None is left out."""
        every: dict[str, str | None] = {**BROWSER, **{name.replace("_", "-"): text for name, text in headers.items()}}
        if self.cookie:
            every["cookie"] = self.cookie
        said = {name: text for name, text in every.items() if text is not None}
        return await ask(self.app, method, path, headers=said, pieces=[body])

    async def sign_in(self, key: str, **headers: str | None) -> AsgiAnswer:
        answer = await self.ask("POST", "/session", json.dumps({"key": key}).encode(), **headers)
        if "set-cookie" in answer.headers:
            self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return answer


async def test_before_signing_in_nothing_is_said_but_that_a_key_is_needed() -> None:
    browser = Browser()
    assert (await browser.ask("GET", "/session")).json() == {
        "who": None,
        "role": None,
        "needs_key": True,
        "issuer_url": None,
        "product": "",
        "gateway_url": "",
    }
    assert (await browser.ask("GET", "/admin/fleet")).status == 401


async def test_a_keyless_console_needs_no_signing_in() -> None:
    page = (await Browser(ConsoleSettings()).ask("GET", "/session")).json()
    assert (page["who"], page["role"], page["needs_key"]) == ("local", "operator", False)
    assert page["gateway_url"] == "http://127.0.0.1:8080"


async def test_a_key_opens_a_session_that_opens_everything() -> None:
    browser = Browser()
    page = (await browser.sign_in("operator")).json()
    assert (page["who"], page["role"]) == (f"key {digest('operator')[:8]}", "operator")
    assert (await browser.ask("GET", "/session")).json() == page
    assert (await browser.ask("GET", "/admin/fleet")).status == 200
    assert (await browser.ask("POST", "/admin/fleet/drain", DRAIN)).status == 200


async def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites() -> None:
    answer = await Browser().sign_in("operator")
    name, *flags = [part.strip() for part in answer.headers["set-cookie"].split(";")]
    assert name.startswith(f"{COOKIE}=")
    assert set(flags) == {"Path=/", "HttpOnly", "SameSite=Strict", "Max-Age=604800"}
    assert "operator" not in answer.headers["set-cookie"]


async def test_behind_tls_the_cookie_is_for_https_alone() -> None:
    browser = Browser(
        ConsoleSettings(operator_keys_sha256=(digest("operator"),), is_behind_tls=True),
    )
    cookie = (await browser.sign_in("operator")).headers["set-cookie"]
    assert cookie.startswith(f"__Host-{COOKIE}=")
    assert cookie.endswith("; Secure")
    assert (await browser.ask("GET", "/admin/fleet")).status == 200


async def test_two_sessions_of_one_key_have_tokens_of_their_own() -> None:
    first, second = Browser(), Browser()
    await first.sign_in("operator")
    await second.sign_in("operator")
    assert first.cookie != second.cookie
    assert len(first.cookie) >= len(COOKIE) + 43


async def test_signing_out_ends_the_session_and_takes_the_cookie_back() -> None:
    browser = Browser()
    await browser.sign_in("operator")
    answer = await browser.ask("DELETE", "/session")
    assert answer.json()["who"] is None
    assert "Max-Age=0" in answer.headers["set-cookie"]
    assert (await browser.ask("GET", "/admin/fleet")).status == 401


async def test_a_viewer_sees_everything_and_changes_nothing() -> None:
    browser = Browser()
    assert (await browser.sign_in("viewer")).json()["role"] == "viewer"
    assert (await browser.ask("GET", "/admin/fleet")).status == 200
    assert (await browser.ask("POST", "/admin/explain", b'{"model": "chat"}')).status == 200
    for path, body in (
        ("/admin/fleet/drain", DRAIN),
        ("/admin/fleet/undrain", DRAIN),
        ("/admin/fleet/remove", DRAIN),
        ("/admin/reload", b"{}"),
        ("/admin/playground", CHAT),
    ):
        answer = await browser.ask("POST", path, body)
        assert (answer.status, answer.json()["error"]["code"]) == (403, "read_only"), path


async def test_a_viewers_bearer_key_changes_nothing_either() -> None:
    headers = {"authorization": "Bearer viewer", "content-type": "application/json"}
    app = Browser().app
    assert (await ask(app, "GET", "/admin/fleet", headers=headers)).status == 200
    answer = await ask(app, "POST", "/admin/fleet/drain", headers=headers, pieces=[DRAIN])
    assert (answer.status, answer.json()["error"]["code"]) == (403, "read_only")


@pytest.mark.parametrize(
    "headers",
    [
        {"x_heterodyne_console": None},
        {"x_heterodyne_console": "0"},
        {"origin": None},
        {"origin": "null"},
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": f"http://evil.example/{HOST}"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "none"},
    ],
)
async def test_another_page_changes_nothing_with_a_session(headers: dict[str, str | None]) -> None:
    browser = Browser()
    await browser.sign_in("operator")
    answer = await browser.ask("POST", "/admin/fleet/drain", DRAIN, **headers)
    assert (answer.status, answer.json()["error"]["code"]) == (403, "cross_site")
    assert (await browser.ask("DELETE", "/session", **headers)).status == 403
    assert (await browser.ask("POST", "/admin/fleet/drain", DRAIN)).status == 200


async def test_another_page_signs_nobody_in() -> None:
    browser = Browser()
    answer = await browser.sign_in("operator", origin="http://evil.example")
    assert (answer.status, answer.json()["error"]["code"]) == (403, "cross_site")
    assert (await browser.sign_in("operator", content_type="text/plain")).status == 415
    assert browser.cookie == ""


async def test_the_browsers_own_word_on_the_site_goes_before_the_origin() -> None:
    browser = Browser()
    await browser.sign_in("operator")
    # A proxy may have changed the host.
    answer = await browser.ask("POST", "/admin/fleet/drain", DRAIN, host="inner:1", sec_fetch_site="same-origin")
    assert answer.status == 200


async def test_a_form_cannot_change_anything_with_a_session() -> None:
    browser = Browser()
    await browser.sign_in("operator")
    answer = await browser.ask("POST", "/admin/fleet/drain", DRAIN, content_type="text/plain")
    assert answer.status == 415


async def test_a_program_with_a_key_needs_nothing_of_a_browser() -> None:
    headers = {"authorization": "Bearer operator", "content-type": "application/json"}
    answer = await ask(Browser().app, "POST", "/admin/fleet/drain", headers=headers, pieces=[DRAIN])
    assert answer.status == 200


async def test_a_wrong_key_beside_a_good_session_is_refused() -> None:
    browser = Browser()
    await browser.sign_in("operator")
    assert (await browser.ask("GET", "/admin/fleet", authorization="Bearer wrong")).status == 401


async def test_wrong_keys_are_refused_and_then_nothing_is_tried_for_a_while() -> None:
    browser = Browser()
    for number in range(KEYS_OF_ADDRESS_MAX):
        answer = await browser.sign_in(f"wrong {number}")
        assert (answer.status, "set-cookie" in answer.headers) == (401, False)
    answer = await browser.sign_in("operator")
    assert (answer.status, answer.json()["error"]["code"]) == (429, "too_many_sign_ins")
    assert 0 < int(answer.headers["retry-after"]) <= 300


@pytest.mark.parametrize("path", ["/admin/fleet", "/session", "/admin/fleet/drain"])
async def test_wrong_bearer_keys_are_limited_like_wrong_sign_ins(path: str) -> None:
    browser, method = Browser(), "POST" if path.endswith("drain") else "GET"
    failed = metrics.sign_ins_failed.cell(("bearer",))
    before = failed[0]

    async def bring(key: str, address: str = "192.0.2.7") -> AsgiAnswer:
        headers = {**BROWSER, "authorization": f"Bearer {key}"}
        return await ask(browser.app, method, path, headers=headers, pieces=[DRAIN], client=(address, 5000))

    for number in range(KEYS_OF_ADDRESS_MAX):
        assert (await bring(f"wrong {number}")).status == (200 if path == "/session" else 401)
    assert failed[0] - before == KEYS_OF_ADDRESS_MAX
    limited = await bring("operator")
    assert (limited.status, limited.json()["error"]["code"]) == (429, "too_many_sign_ins")
    assert (await bring("operator", "192.0.2.8")).status == 200, "the right key from another address"


async def test_wrong_keys_count_together_however_they_are_brought() -> None:
    browser = Browser()
    for number in range(KEYS_OF_ADDRESS_MAX - 1):
        assert (await browser.ask("GET", "/admin/fleet", authorization=f"Bearer {number}")).status == 401
    assert (await browser.sign_in("wrong")).status == 401
    assert (await browser.sign_in("operator")).status == 429


async def test_whoever_is_signed_in_does_not_wait_for_those_who_guess() -> None:
    browser = Browser()
    await browser.sign_in("operator")
    for number in range(2 * KEYS_OF_ADDRESS_MAX):
        await browser.ask("GET", "/admin/fleet", authorization=f"Bearer {number}")
    assert (await browser.ask("GET", "/admin/fleet")).status == 200


@pytest.mark.parametrize("cookie", ["x", "", "a" * 5000, '"', ";;;"])
async def test_a_cookie_nobody_was_given_opens_nothing(cookie: str) -> None:
    browser = Browser()
    browser.cookie = f"{COOKIE}={cookie}"
    assert (await browser.ask("GET", "/admin/fleet")).status == 401


async def test_a_reload_that_drops_a_key_ends_its_sessions() -> None:
    operator, viewer = Browser(), Browser()
    viewer.app, viewer.guard = operator.app, operator.guard
    await operator.sign_in("operator")
    await viewer.sign_in("viewer")
    operator.guard.take(ConsoleSettings(operator_keys_sha256=(digest("operator"),)))
    assert (await viewer.ask("GET", "/admin/fleet")).status == 401
    assert (await operator.ask("GET", "/admin/fleet")).status == 200
    operator.guard.take(KEYED)
    assert (await viewer.ask("GET", "/admin/fleet")).status == 401  # it does not come back with the key


async def test_a_keyless_console_is_not_signed_in_to_by_another_name() -> None:
    browser = Browser(ConsoleSettings())
    assert (await browser.ask("GET", "/session", host="rebound.example")).status == 421
    assert (await browser.sign_in("x", host="rebound.example", origin="http://rebound.example")).status == 421


async def test_a_sign_in_is_never_written_with_its_key(capsys: pytest.CaptureFixture[str]) -> None:
    browser = Browser()
    await browser.sign_in("a-very-wrong-secret")
    answer = await browser.ask("POST", "/session", b'{"key": 5, "secret": "a-very-wrong-secret"}')
    assert answer.status == 400
    assert b"a-very-wrong-secret" not in answer.body
    said = capsys.readouterr()
    assert "a-very-wrong-secret" not in said.out + said.err
