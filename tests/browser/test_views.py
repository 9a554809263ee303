"""Every view in a real browser: it shows the fleet that runs, complains of nothing, and everybody can read it."""

from contextlib import suppress
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import DESK, Watched

# What each view shows of the emulated fleet and its requests once it is complete.
SHOWN = {
    "fleet": ("h100-sxm", "mi300x", "tpu-v5e", "smollm2-135m", "5 of 5 replicas ready"),
    "requests": ("local/local", "llama-3.1-8b", "model_not_found"),
    "latency": ("Percentiles of the whole span", "h200", "Error of predicted TTFT"),
    "money": ("Dollars per million tokens by pool", "acme/search", "What would the other policy have cost?"),
    "tenants": ("local/local", "acme/search", "globex/support"),
    "capacity": ("Headroom", "mi300x", "Forecast of demand", "names no hardware"),
    "playground": ("llama-3.1-8b", "smollm2-135m"),
    "plan": ("Memory", "Hardware", "Mix"),
    "rollouts": ("support-chat", "h100-v2 → h100-v3", "rolled back", "canary 5 %"),
    "batches": ("acme/batch", "done by", "late", "40 min after its window", "failed", "1,250 of 5,000, 3 failed"),
    "models": ("llama-3.1-8b@v2", "smollm2-135m@v1", "gguf q4_0, failed", "tensorrt-llm fp8"),
}
LOOKS = {
    "light": {"viewport": DESK, "color_scheme": "light"},
    "dark": {"viewport": DESK, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 360, "height": 740}, "color_scheme": "light"},
}


@pytest.mark.parametrize("view", SHOWN)
@pytest.mark.parametrize(("look", "watched"), LOOKS.items(), ids=LOOKS, indirect=["watched"])
def test_a_view_shows_the_fleet_to_everybody(watched: Watched, pictures: Path, view: str, look: str) -> None:
    page = watched.open(view)
    main = page.locator("main")
    for words in SHOWN[view]:
        expect(main).to_contain_text(words)
    expect(page.locator(".connection")).to_have_attribute("data-state", "on")
    page.screenshot(path=pictures / f"{view}-{look}.png")
    assert_accessible(page)
    widest = page.evaluate("() => document.documentElement.scrollWidth")
    assert widest <= page.viewport_size["width"], "nobody scrolls sideways"


def assert_accessible(page: Page) -> None:
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()


def test_keys_lead_everywhere(watched: Watched) -> None:
    page = watched.open("fleet")
    views = (("r", "Requests"), ("l", "Latency"), ("m", "Money"), ("c", "Capacity"), ("o", "Rollouts"), ("d", "Models"))
    for key, title in (*views, ("b", "Batches"), ("k", "KV"), ("f", "Fleet")):
        _press_chord(page, key, title)
    for digit, title in (("2", "Requests"), ("9", "Rollouts"), ("0", "Models"), ("1", "Fleet")):
        page.keyboard.press(digit)
        expect(page.locator("main h1")).to_have_text(title)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    for words in ("g o or 9", "g d or 0", "g b"):
        expect(page.get_by_role("dialog")).to_contain_text(words)
    assert_accessible(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("/")
    expect(page.locator("input:focus")).to_be_visible()


def _press_chord(page: Page, key: str, title: str) -> None:
    """`g` and this key, again where a busy machine took too long between them."""
    for seconds in (2, 4, 20):
        page.keyboard.press("g")
        page.keyboard.press(key)
        with suppress(AssertionError):
            expect(page.locator("main h1")).to_have_text(title, timeout=1000 * seconds)
            return
    raise AssertionError(f"g {key} does not lead to {title}")


def test_a_view_can_be_shared_by_its_address(watched: Watched) -> None:
    page = watched.open("latency?span=24h&group=hardware")
    expect(page.locator("main table").first).to_contain_text("h100-sxm")
    expect(page.locator("main")).to_contain_text("the last 24 hours")
