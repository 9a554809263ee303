"""KV in the console: tiers, links, savings and hot prefixes of four emulated replicas."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from heterodyne.testing.serve_process import ServeProcess
from tests.browser.conftest import TIMEOUT_MS
from tests.browser.test_views import LOOKS, assert_accessible
from tests.support.kv_console import kv_gateway, send_prompts


@pytest.fixture(scope="module")
def serve(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServeProcess]:
    with kv_gateway(tmp_path_factory.mktemp("kv")) as gateway:
        send_prompts(gateway)
        yield gateway


@pytest.fixture
def page(browser: Browser, serve: ServeProcess, request: pytest.FixtureRequest) -> Iterator[Page]:
    context = browser.new_context(**getattr(request, "param", LOOKS["light"]))
    context.set_default_timeout(TIMEOUT_MS)
    page = context.new_page()
    page.goto(f"{serve.admin_url}/#/kv")
    yield page
    context.close()


@pytest.mark.parametrize(("look", "page"), LOOKS.items(), ids=LOOKS, indirect=["page"])
def test_kv_is_shown_as_a_fabric_to_everybody(page: Page, look: str, pictures: Path) -> None:
    tiers = page.get_by_role("region", name="Tiers")
    for words in ("prompts", "answers", "shop", "auto", "exchanges by nixl", "held already", "4 replicas"):
        expect(tiers).to_contain_text(words)
    expect(page.get_by_role("region", name="Stores")).to_contain_text("40 GB")
    for words in ("prompts", "answers", "as assumed"):
        expect(page.get_by_role("region", name="Links").locator("tbody")).to_contain_text(words)
    savings = page.get_by_role("region", name="Saved or lost")
    for words in ("Together", "prefilled elsewhere", "too few"):
        expect(savings).to_contain_text(words)
    prefixes = page.get_by_role("region", name="Hot prefixes")
    expect(prefixes.locator("tbody tr").first).to_contain_text("shop-8b")
    expect(page.locator("main")).not_to_contain_text("boats, sails")
    tiers.locator("summary").click()
    expect(tiers.get_by_role("table", name="Replicas").locator("tbody tr")).to_have_count(4)
    page.evaluate("() => scrollTo(0, 0)")
    page.screenshot(path=pictures / f"kv-{look}.png", full_page=True)
    assert_accessible(page)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= page.viewport_size["width"]
