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
from tests.support.mixed_traffic import booked
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
        yield _slow_answer(fleet)
    finally:
        post(f"{url}/emulator/faults", {"slowdown": 1.0}).close()


def _slow_answer(fleet: Example) -> dict[str, object]:
    """By the policy that likes the pool, which is the cheapest; should it have learned better by now, pinned to it."""
    for ask in (*[_ask_for_less] * 3, *[_ask_the_pool] * 3):
        before = booked(fleet)
        ask(fleet)
        wait_until(lambda before=before: booked(fleet) > before, 20, "the request in the books")
        found = [one for one in stored(fleet, pool=SLOW_POOL, limit="5") if _is_slow(one)]
        if found:
            return found[0]
    raise AssertionError("the slow pool was not slow")


def _ask_for_less(fleet: Example) -> None:
    body = {"model": "chat", "messages": _messages(), "stream": True, "max_tokens": 16}
    _post(f"{fleet.url}/v1/chat/completions", body, {"x-heterodyne-policy": "cost"})


def _ask_the_pool(fleet: Example) -> None:
    body = {"model": "llama-3.1-8b", "pool": SLOW_POOL, "messages": _messages(), "max_tokens": 16}
    _post(f"{fleet.console_url}/admin/playground", body, {})


def _messages() -> list[dict[str, str]]:
    """A prompt that nobody remembers, long enough for a slow prefill to show."""
    return [{"role": "user", "content": f"{time.monotonic()} " + "tell me more of this " * 600}]


def _post(url: str, body: dict[str, object], headers: dict[str, str]) -> None:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=30) as answer:
        answer.read()


def _is_slow(record: dict[str, object]) -> bool:
    actual, predicted = record["ttft_ms"], record["predicted_ttft_ms"]
    if str(record["id"]).startswith("req_past"):
        return False
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
