"""The fleet view of models that grow and shrink: what one is short of, why, and what would mend it."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DESK, Watched

PHONE = {"viewport": {"width": 360, "height": 740}}


def a_pool(name: str, **other: object) -> dict[str, Any]:
    counts = {"minimum": 1, "maximum": 4, "wanted": 4, "ready": 4, "warming": 0, "draining": 0}
    return {"pool": name, "driver": "kubernetes", "cold_start_s": 90.0, "cold_starts": 3, **counts, **other}


def a_model(name: str, **other: object) -> dict[str, Any]:
    figures = {"needed": 4.2, "carried": 8.0, "most": 8.0, "is_paused": False, "pools": [a_pool(f"{name}-l4")]}
    return {"model": name, "short": None, "held": 0, "told_wait_s": None, "yields": None, **figures, **other}


MAXIMUM = {
    "requests_per_s": 3.4,
    "cause": "maximum",
    "because": "llama-3.1-8b-l4 has 4 replicas, and more are not allowed",
    "mend": "raise pools.llama-3.1-8b-l4.autoscaling.maximum to 6",
}
PAUSED = {
    "requests_per_s": 0.5,
    "cause": "paused",
    "because": "an operator has paused it",
    "mend": "`heterodyne scale resume mixtral-8x7b`",
}
MODELS = [
    a_model("llama-3.1-8b", needed=11.4, short=MAXIMUM),
    a_model("mixtral-8x7b", needed=8.5, most=16.0, is_paused=True, short=PAUSED),
    a_model("smollm2-135m"),
]


def scales(page: Page, models: list[dict[str, Any]]) -> None:
    """The console has this answer about scaling from now on."""
    body = json.dumps({"mode": "act", "leader": "gw-1", "apart": "", "models": models, "decisions": []})
    page.route("**/admin/scaling*", lambda route: route.fulfill(content_type="application/json", body=body))


@pytest.mark.parametrize(
    ("look", "watched"),
    {"desk": {"viewport": DESK}, "phone": PHONE}.items(),
    ids=["desk", "phone"],
    indirect=["watched"],
)
def test_what_a_model_is_short_of_is_shown_with_what_mends_it(watched: Watched, pictures: Path, look: str) -> None:
    scales(watched.page, MODELS)
    part = watched.open("fleet").get_by_role("region", name="Growing and shrinking")
    for words in (MAXIMUM["because"], MAXIMUM["mend"], "heterodyne scale resume mixtral-8x7b", "enough"):
        expect(part).to_contain_text(str(words))
    watched.page.screenshot(path=pictures / f"scaling-{look}.png")
    widest = watched.page.evaluate("() => document.documentElement.scrollWidth")
    assert widest <= watched.page.viewport_size["width"], "nobody scrolls sideways"


def test_a_fleet_whose_pools_stay_as_they_are_has_no_such_part(watched: Watched) -> None:
    page = watched.open("fleet")
    expect(page.locator("main")).to_contain_text("5 of 5 replicas ready")
    expect(page.get_by_role("region", name="Growing and shrinking")).to_have_count(0)
