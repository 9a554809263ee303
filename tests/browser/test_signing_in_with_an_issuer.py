"""The console over TLS of its own, behind an issuer: people leave for it, come back from another site, and are in."""

import hashlib
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.browser.conftest import DESK, TIMEOUT_MS
from tests.browser.test_views import assert_accessible
from tests.support.issuers import Trusted, trusted_issuer
from tests.support.threads import in_thread

KEY = "operator-key-of-this-test"


@contextmanager
def console_of(folder: Path, trusted: Trusted) -> Iterator[str]:
    """Where it is: by another name than the issuer's, which makes them two sites to a browser."""
    own = trusted.authority.issue("console", "localhost", "127.0.0.1")
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"https://localhost:{free.getsockname()[1]}"
    settings = f"""
[console]
operator_keys_sha256 = ["{hashlib.sha256(KEY.encode()).hexdigest()}"]
tls_certificate = "{own.certificate}"
tls_key = "{own.key}"
[sign_in]
issuer_url = "{trusted.issuer.url}"
client_id = "console"
console_url = "{url}"
operators = ["operators"]
viewers = ["staff"]
tls_authorities = "{trusted.authority.file}"
[pools.chat]
model = "chat"
engine = "openai"
"""
    environment = {"HETERODYNE_CONSOLE__PORT": url.rpartition(":")[2]}
    with (
        in_thread(ScriptedEngine(behaviours.answer(), model="chat")) as engine,
        ServeProcess(folder, config=f'{settings}urls = ["{engine.url}"]\n', environment=environment) as serve,
    ):
        serve.wait_ready()
        yield url


@pytest.fixture(scope="module")
def trusted(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trusted]:
    with in_thread(trusted_issuer(tmp_path_factory.mktemp("issuer"))) as opened:
        yield opened


@pytest.fixture(scope="module")
def console(trusted: Trusted, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with console_of(tmp_path_factory.mktemp("console"), trusted) as url:
        yield url


@pytest.fixture
def page(browser: Browser, console: str) -> Iterator[Page]:
    context = browser.new_context(viewport=DESK, ignore_https_errors=True)
    context.set_default_timeout(TIMEOUT_MS)
    page = context.new_page()
    page.goto(f"{console}/#/fleet")
    yield page
    context.close()


def test_an_operator_leaves_comes_back_and_stays(page: Page, trusted: Trusted) -> None:
    trusted.issuer.person = {"sub": "ada", "groups": ["operators"]}
    way = page.get_by_role("link", name="Sign in with 127.0.0.1")
    expect(way).to_be_visible()
    assert_accessible(page)
    way.click()
    expect(page.locator("[data-pool=chat]").get_by_role("button", name="Drain", exact=True)).to_be_enabled()
    [cookie] = page.context.cookies()
    assert cookie["name"].startswith("__Host-")
    assert (cookie["secure"], cookie["httpOnly"], cookie["sameSite"]) == (True, True, "Strict")
    page.reload()
    expect(page.locator("[data-pool=chat]")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(way).to_be_visible()


def test_a_viewer_may_look(page: Page, trusted: Trusted) -> None:
    trusted.issuer.person = {"sub": "bob", "groups": ["staff"]}
    page.get_by_role("link", name="Sign in with").click()
    expect(page.locator("header")).to_contain_text("viewer")
    expect(page.get_by_role("button", name="Drain", exact=True)).to_have_count(0)


def test_whoever_has_no_role_is_told_so_and_a_key_still_opens(page: Page, trusted: Trusted) -> None:
    trusted.issuer.person = {"sub": "eve"}
    page.get_by_role("link", name="Sign in with").click()
    expect(page.get_by_role("alert")).to_contain_text("no role here")
    assert "sign-in" not in page.url
    page.get_by_label("Operator key").fill(KEY)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.locator("[data-pool=chat]")).to_be_visible()
