"""The console behind keys: nobody sees anything without one, viewers see everything and change nothing."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import DESK, TIMEOUT_MS
from tests.browser.test_views import assert_accessible
from tests.support.mixed_fleet import Example, running

OPERATOR_KEY, VIEWER_KEY = "operator-key-of-this-test", "viewer-key-of-this-test"
KEYS = f"""
[console]
operator_keys_sha256 = ["{sha256(OPERATOR_KEY.encode()).hexdigest()}"]
viewer_keys_sha256 = ["{sha256(VIEWER_KEY.encode()).hexdigest()}"]
"""


@pytest.fixture(scope="module")
def locked(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Example]:
    with running(tmp_path_factory.mktemp("locked"), KEYS) as example:
        yield example


@pytest.fixture
def page(browser: Browser, locked: Example) -> Iterator[Page]:
    context = browser.new_context(viewport=DESK)
    context.set_default_timeout(TIMEOUT_MS)
    page = context.new_page()
    page.goto(f"{locked.console_url}/#/fleet")
    yield page
    context.close()


def sign_in(page: Page, key: str) -> None:
    page.get_by_label("Operator key").fill(key)
    page.get_by_role("button", name="Sign in").click()


def test_a_wrong_key_shows_nothing_of_the_fleet(page: Page, pictures: Path) -> None:
    sign_in(page, "no-such-key")
    expect(page.get_by_role("alert")).to_contain_text("not valid")
    expect(page.locator("body")).not_to_contain_text("h100")
    assert_accessible(page)
    page.screenshot(path=pictures / "sign-in.png")


def test_an_operator_signs_in_may_change_things_and_signs_out(page: Page) -> None:
    sign_in(page, OPERATOR_KEY)
    pool = page.locator("[data-pool=h100]")
    expect(pool.get_by_role("button", name="Drain", exact=True)).to_be_enabled()
    [cookie] = page.context.cookies()
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    assert OPERATOR_KEY not in page.evaluate("() => JSON.stringify({...localStorage, ...sessionStorage})")
    page.reload()
    expect(pool).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Operator key")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Operator key")).to_be_visible()


def test_a_viewer_sees_everything_and_changes_nothing(page: Page) -> None:
    sign_in(page, VIEWER_KEY)
    expect(page.locator("[data-pool=h100]")).to_contain_text("llama-3.1-8b")
    expect(page.locator("header")).to_contain_text("viewer")
    expect(page.get_by_role("button", name="Drain", exact=True)).to_have_count(0)
    assert_accessible(page)
    page.goto(f"{page.url.partition('#')[0]}#/rollouts")
    expect(page.locator("main")).to_contain_text("You may look and not change")
    expect(page.get_by_role("button", name="Start a rollout")).to_have_count(0)
    answer = page.evaluate(
        """async () => {
            const headers = {"content-type": "application/json", "x-heterodyne-console": "1"};
            const body = JSON.stringify({pool: "h100"});
            return (await fetch("/admin/fleet/drain", {method: "POST", headers, body})).status;
        }"""
    )
    assert answer == 403
