"""What an operator does in the console: drains a pool, asks why a request went where it did, talks to a model."""

import json
import re
import urllib.parse
import urllib.request
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import Watched
from tests.browser.test_views import assert_accessible
from tests.support.mixed_fleet import Example


def test_a_drained_pool_shows_as_drained_and_comes_back(watched: Watched, pictures: Path) -> None:
    page = watched.open("fleet")
    pool = page.locator("[data-pool=h200]")
    pool.get_by_role("button", name="Drain", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("h200")
    assert_accessible(page)
    dialog.get_by_role("button", name="Drain").click()
    expect(pool.locator(".badge").first).to_contain_text("drained")
    page.screenshot(path=pictures / "fleet-drained.png")
    pool.get_by_role("button", name="Undrain", exact=True).click()
    dialog.get_by_role("button", name="Undrain").click()
    expect(pool.locator(".badge").first).to_contain_text("ready")


def test_a_requests_decision_opens_with_every_replica_and_what_came_of_it(
    watched: Watched, fleet: Example, pictures: Path
) -> None:
    # Of now, wherever the router sent it: nobody keeps decisions of the past that the books were given.
    of_now = (one for one in stored(fleet) if not str(one["id"]).startswith("req_past"))
    record = next(one for one in of_now if one["itl_ms"] and one["pool"] != "cpu")
    page = watched.open("requests")
    page.locator("main table").get_by_text(record["id"]).first.click()
    decision = page.locator("[data-part=decision]")
    for pool in ("h100", "h200", "mi300x", "tpu-v5e"):
        expect(decision).to_contain_text(f"{pool}-0")
    main = page.locator("main")
    expect(main).to_contain_text(record["id"])
    expect(main).to_contain_text("Predicted")
    expect(main).to_contain_text(f"{record['prompt_tokens']:,}")
    assert_accessible(page)
    page.screenshot(path=pictures / "request.png", full_page=True)


def test_stored_requests_are_searched(watched: Watched, fleet: Example) -> None:
    page = watched.open("requests?mode=stored&pool=cpu")
    rows = page.locator("main table tbody tr")
    expect(rows).to_have_count(len(stored(fleet, pool="cpu")))
    for text in rows.all_inner_texts():
        assert "smollm2-135m" in text


def test_the_playground_streams_from_the_real_model_beside_an_emulated_one(watched: Watched, pictures: Path) -> None:
    page = watched.open("playground?on=smollm2-135m llama-3.1-8b@h100&max_tokens=24")
    page.get_by_label("Prompt", exact=True).fill("Say hello to the operators.")
    page.get_by_role("button", name="Send").click()
    for column, replica in ((page.locator(".column").nth(0), "cpu-0"), (page.locator(".column").nth(1), "h100-0")):
        expect(column.locator(".placed")).to_contain_text(replica)
        expect(column.locator("[data-role=assistant]")).to_have_text(re.compile(r"\w+ \w+"), timeout=60_000)
        expect(column.locator(".placed")).to_contain_text("tokens/s", timeout=60_000)
    assert_accessible(page)
    page.screenshot(path=pictures / "playground-answer.png")


def test_a_plan_is_laid_out(watched: Watched) -> None:
    page = watched.open("plan")
    page.get_by_role("button", name="Lay it out").click()
    expect(page.locator("main")).to_contain_text("It fits")
    assert_accessible(page)


def test_another_policy_is_rehearsed_on_the_requests_that_came(watched: Watched) -> None:
    page = watched.open("money")
    page.get_by_role("button", name="Rehearse").click()
    table = page.get_by_role("table", name="Policies")
    for policy in ("slo", "cost", "load"):
        expect(table.locator("tbody tr", has_text=policy)).to_contain_text("%", timeout=60_000)


def stored(example: Example, **where: str) -> list[dict[str, object]]:
    """What the books have, the newest first."""
    query = urllib.parse.urlencode({"limit": 100, **where})
    with urllib.request.urlopen(f"{example.console_url}/admin/usage/requests?{query}", timeout=10) as answer:
        found: list[dict[str, object]] = json.load(answer)["requests"]
        return found
