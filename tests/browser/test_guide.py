"""docs/guides/symptom-to-cause.md, followed step by step: a pool has become six times slower, and it is found.

Its day is made up (`tests.support.past`); its emulator is slow for real.
"""

import json
import re
import time
import tomllib
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Watched
from tests.browser.test_acting import stored
from tests.support.mixed_fleet import Example, post, wait_until
from tests.support.past import SLOW_POOL, SLOWDOWN

TALL = {"viewport": {"width": 1280, "height": 1000}}
EARLIER = "span=1h&compare=before"


@pytest.fixture
def slow(fleet: Example) -> Iterator[dict[str, object]]:
    """A request that the slow pool has just answered."""
    pools = tomllib.loads((fleet.folder / "heterodyne.toml").read_text(encoding="utf-8"))["pools"]
    [url] = pools[SLOW_POOL]["urls"]
    post(f"{url}/emulator/faults", {"slowdown": SLOWDOWN}).close()
    try:
        wait_until(lambda: _ask(fleet) and _slow(fleet), 60, "an answer that was slow, in the books")
        yield _slow(fleet)[0]
    finally:
        post(f"{url}/emulator/faults", {"slowdown": 1.0}).close()


def _ask(fleet: Example) -> bool:
    """A prompt that nobody remembers, long enough for a slow prefill to show, by the policy that likes the slow pool:
    it is the cheapest."""
    words = f"{time.monotonic()} " + "tell me more of this " * 600
    body = {"model": "chat", "messages": [{"role": "user", "content": words}], "stream": True, "max_tokens": 16}
    headers = {"content-type": "application/json", "x-heterodyne-policy": "cost"}
    request = urllib.request.Request(f"{fleet.url}/v1/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return bool(answer.read())


def _slow(fleet: Example) -> list[dict[str, object]]:
    return [one for one in stored(fleet, pool=SLOW_POOL, project="local/local", limit="20") if _is_slow(one)]


def _is_slow(record: dict[str, object]) -> bool:
    actual, predicted = record["ttft_ms"], record["predicted_ttft_ms"]
    return isinstance(actual, float) and isinstance(predicted, float) and actual > 2 * predicted


@pytest.mark.parametrize("watched", [TALL], indirect=True)
def test_from_the_symptom_to_the_cause(
    watched: Watched, fleet: Example, slow: dict[str, object], pictures: Path
) -> None:
    page = watched.open(f"latency?{EARLIER}&group=model&model=llama-3.1-8b")
    table = page.locator("main table").first
    expect(table).to_contain_text("%")
    page.screenshot(path=pictures / "guide-1-symptom.png")

    page = watched.open(f"latency?{EARLIER}&group=pool&model=llama-3.1-8b")
    changed = page.locator("main table tbody tr", has_text=SLOW_POOL).first
    expect(changed).to_contain_text(re.compile(r"\+\d{2,}"))
    page.screenshot(path=pictures / "guide-2-which-pool.png")

    page = watched.open(f"latency?{EARLIER}&group=pool&model=llama-3.1-8b&measure=queue")
    expect(page.locator("main")).to_contain_text("Queue")

    page = watched.open("fleet")
    expect(page.locator(f"[data-pool={SLOW_POOL}]")).to_contain_text("ready")
    page.locator(f"[data-pool={SLOW_POOL}]").screenshot(path=pictures / "guide-3-fleet.png")

    page = watched.open(f"requests?id={slow['id']}")
    decision = page.locator("[data-part=decision]")
    expect(decision).to_contain_text(f"{SLOW_POOL}-0")
    expect(page.locator("main")).to_contain_text(re.compile("first token", re.IGNORECASE))
    page.screenshot(path=pictures / "guide-4-request.png", full_page=True)

    page = watched.open("fleet")
    page.locator(f"[data-pool={SLOW_POOL}]").get_by_role("button", name="Drain", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Drain").click()
    expect(page.locator(f"[data-pool={SLOW_POOL}] .badge").first).to_contain_text("drained")
    page.locator(f"[data-pool={SLOW_POOL}]").screenshot(path=pictures / "guide-5-drained.png")
    with fleet.ask(max_tokens=4) as answer:
        assert answer.headers["x-heterodyne-pool"] != SLOW_POOL
        json.load(answer)
    page.locator(f"[data-pool={SLOW_POOL}]").get_by_role("button", name="Undrain", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Undrain").click()
    expect(page.locator(f"[data-pool={SLOW_POOL}] .badge").first).to_contain_text("ready")
