"""Guards, caches and cascades in the console: what each did, what single findings were, and what is known of errors."""

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from heterodyne.testing.behaviours import chat_answer
from heterodyne.testing.scripted_engine import EngineCall, ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.browser.conftest import TIMEOUT_MS
from tests.browser.test_views import LOOKS, assert_accessible
from tests.support.cascades import ALIAS, BIG, CHEAP, EASY, HARD, fitted_file
from tests.support.guards import EMAIL
from tests.support.threads import in_thread

CONFIG = """
[pools.big]
model = "{big}"
engine = "openai"
urls = ["{big_url}"]
price_usd_per_million_prompt_tokens = 10.0
price_usd_per_million_completion_tokens = 30.0

[pools.small]
model = "{cheap}"
engine = "openai"
urls = ["{cheap_url}"]
price_usd_per_million_prompt_tokens = 0.1
price_usd_per_million_completion_tokens = 0.3

[models.{big}]
aliases = ["{alias}"]

[cascades.{alias}]
fitted = "{fitted}"
audit_share = 1.0

[caches.kept]
models = ["{big}"]

[guards.private]
guard = "pii"
kinds = ["email"]
action = "mask"

[guards.topics]
guard = "words"
action = "block"
words = ["moonshot"]
"""


async def big(call: EngineCall) -> None:
    call.whole(200, chat_answer("from the big one"))


async def small(call: EngineCall) -> None:
    call.whole(200, chat_answer("" if "lemma" in str(call.json["messages"]) else "from the small one"))


@pytest.fixture(scope="module")
def serve(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServeProcess]:
    """A gateway that has masked, blocked, given again, kept and escalated."""
    folder = tmp_path_factory.mktemp("policies")
    two, one = ScriptedEngine(big, model=BIG), ScriptedEngine(small, model=CHEAP)
    with in_thread(two), in_thread(one):
        fields = {"big": BIG, "cheap": CHEAP, "alias": ALIAS, "fitted": fitted_file(folder, "structure")}
        config = CONFIG.format(big_url=two.url, cheap_url=one.url, **fields)
        with ServeProcess(folder, config=config) as gateway:
            gateway.wait_ready()
            for text in (f"ask {EMAIL}", f"ask {EMAIL}", f"tell {EMAIL}"):
                send(gateway, BIG, text)
            send(gateway, BIG, "the moonshot of today")
            for text in (EASY, EASY, HARD):
                send(gateway, ALIAS, text)
            yield gateway


def send(serve: ServeProcess, model: str, text: str) -> Any:
    body = {"model": model, "temperature": 0, "messages": [{"role": "user", "content": text}]}
    asked = urllib.request.Request(
        f"{serve.url}/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    try:
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return json.load(error)  # blocked


@pytest.fixture
def page(browser: Browser, serve: ServeProcess, request: pytest.FixtureRequest) -> Iterator[Page]:
    context = browser.new_context(**getattr(request, "param", LOOKS["light"]))
    context.set_default_timeout(TIMEOUT_MS)
    page = context.new_page()
    page.goto(f"{serve.admin_url}/#/policies")
    yield page
    context.close()


@pytest.mark.parametrize(("look", "page"), LOOKS.items(), ids=LOOKS, indirect=["page"])
def test_what_policies_did_is_shown_to_everybody(page: Page, look: str, pictures: Path) -> None:
    main = page.locator("main")
    guards = page.get_by_role("region", name="Guards")
    for words in ("private", "pii", "masks", "email 3", "topics", "blocks", "banned word 1"):
        expect(guards).to_contain_text(words)
    caches = page.get_by_role("region", name="Caches")
    for words in ("kept", "hit 1", "miss 3", "25%", "3 answers in memory"):
        expect(caches).to_contain_text(words)
    cascade = page.get_by_role("region", name=f"Cascade {ALIAS}")
    for words in (f"{CHEAP}, then {BIG}", "judged and kept 2", "escalated 1", "of the quality is lost", "2 differed"):
        expect(cascade).to_contain_text(words)
    expect(main).not_to_contain_text(EMAIL)
    page.screenshot(path=pictures / f"policies-{look}.png", full_page=True)
    assert_accessible(page)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= page.viewport_size["width"]


def test_a_finding_leads_to_its_request_and_shows_no_words(page: Page) -> None:
    findings = page.get_by_role("region", name="Findings")
    expect(findings.locator("tbody tr")).to_have_count(4)
    page.get_by_role("region", name="Guards").get_by_role("button", name="private").click()
    expect(findings.locator("tbody tr")).to_have_count(3)
    first = findings.locator("tbody tr").first
    for words in ("email", "messages[0].content", f"5 to {5 + len(EMAIL)}", "masked"):
        expect(first).to_contain_text(words)
    findings.get_by_label("Done").select_option("block")
    expect(findings).to_contain_text("Nothing was found in this span.")
    findings.get_by_label("Policy").select_option("")
    expect(findings.locator("tbody tr")).to_have_count(1)
    findings.get_by_role("link").click()
    expect(page.locator("main h1")).to_contain_text("Request req_")
    expect(page.locator("main")).to_contain_text("content_filter")
    expect(page.get_by_role("region", name="Policies")).to_contain_text("banned word")
