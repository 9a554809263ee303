"""A rollout in the console from beginning to end, what one rested on, and what the registry knows of a version."""

import json
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.browser.conftest import DESK, TIMEOUT_MS, Watched
from tests.browser.test_views import LOOKS, assert_accessible
from tests.support.mixed_fleet import Example
from tests.support.threads import in_thread

TALL = {"viewport": {"width": 1280, "height": 1000}}
CONVERSATIONS = 40


@pytest.fixture
def serve(browser: Browser, tmp_path: Path) -> Iterator[ServeProcess]:
    """Two pools of one model."""
    with ExitStack() as stack:
        pools = "".join(
            f'[pools.{name}]\nmodel = "chat"\nurls = ["{engine.url}"]\n'
            for name, engine in (
                (name, stack.enter_context(in_thread(ScriptedEngine(behaviours.answer(name), model="chat"))))
                for name in ("old", "new")
            )
        )
        gateway = stack.enter_context(ServeProcess(tmp_path, config=pools))
        gateway.wait_ready()
        yield gateway


@pytest.fixture
def page(browser: Browser, serve: ServeProcess) -> Iterator[Page]:
    context = browser.new_context(viewport=DESK)
    context.set_default_timeout(TIMEOUT_MS)
    page = context.new_page()
    page.goto(f"{serve.admin_url}/#/rollouts")
    yield page
    context.close()


def act(page: Page, name: str) -> None:
    """A change by hand, as the dialog asks for it."""
    page.locator(".opened").get_by_role("button", name=name, exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(f"{name} the rollout of chat?")
    dialog.get_by_role("button", name=name, exact=True).click()
    expect(dialog).to_be_hidden()


def current(page: Page) -> Any:
    return page.locator(".stage[aria-current=step] .stage-name")


def test_a_rollout_is_started_paused_promoted_and_aborted_by_hand(
    page: Page, serve: ServeProcess, pictures: Path
) -> None:
    expect(page.locator("main")).to_contain_text("There was no rollout yet")
    assert_accessible(page)
    page.get_by_role("button", name="Start a rollout").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Start").click()
    expect(dialog).to_contain_text("Choose the pools")
    assert_accessible(page)
    page.screenshot(path=pictures / "rollout-start.png")
    dialog.get_by_label("new", exact=True).check()
    dialog.get_by_role("button", name="Start").click()
    opened = page.locator(".opened")
    expect(opened.locator("h2").first).to_contain_text("chat: old → new")
    expect(current(page)).to_have_text("canary 1 %")
    act(page, "Pause")
    expect(opened.locator("h2 .badge")).to_have_text("paused")
    act(page, "Resume")
    expect(opened.locator("h2 .badge")).to_have_text("running")
    for stage in ("canary 5 %", "canary 25 %", "canary 50 %"):
        act(page, "Promote")
        expect(current(page)).to_have_text(stage)
    for number in range(CONVERSATIONS):
        ask(serve, f"Hello, I am number {number}.")
    errors = page.locator("[data-metric=errors]")
    expect(errors).to_contain_text("not sure yet")
    expect(errors.get_by_role("img")).to_be_visible()
    assert_accessible(page)
    page.screenshot(path=pictures / "rollout-running.png", full_page=True)
    act(page, "Abort")
    expect(opened.locator("h2 .badge")).to_have_text("aborted")
    expect(page.locator(".stage[data-mark=stopped]")).to_contain_text("canary 50 %")
    expect(opened.get_by_role("button", name="Abort", exact=True)).to_have_count(0)
    expect(page.get_by_role("table", name="Latest of each model")).to_contain_text("aborted")


def test_a_refusal_stays_in_the_dialog(page: Page, serve: ServeProcess) -> None:
    body = json.dumps({"model": "chat", "candidate": ["new"]}).encode()
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(f"{serve.admin_url}/admin/rollouts/start", body, headers)
    urllib.request.urlopen(request, timeout=10).close()
    expect(page.get_by_role("table", name="Latest of each model")).to_contain_text("old → new")
    page.get_by_role("button", name="Start a rollout").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("new", exact=True).check()
    dialog.get_by_role("button", name="Start").click()
    expect(dialog).to_contain_text("A rollout of chat is running")


@pytest.mark.parametrize(
    ("look", "watched"), {**LOOKS, "tall": TALL}.items(), ids=[*LOOKS, "tall"], indirect=["watched"]
)
def test_what_a_rollout_rested_on_is_drawn_for_everybody(watched: Watched, look: str, pictures: Path) -> None:
    page = watched.open("rollouts?model=support-chat")
    opened = page.locator(".opened")
    expect(page.locator(".stage[data-mark=stopped]")).to_contain_text("canary 5 %")
    expect(opened.locator("[data-metric=ttft]")).to_contain_text("surely worse")
    expect(opened.locator("[data-metric=itl]")).to_contain_text("good enough for this stage")
    drawn = opened.locator("[data-metric=ttft] .interval-bar").bounding_box()
    breach = opened.locator("[data-metric=ttft] .mark-bad").bounding_box()
    assert drawn is not None
    assert breach is not None
    assert drawn["x"] > breach["x"], "the whole interval is beyond what ends a rollout"
    expect(opened.get_by_role("table", name="Steps")).to_contain_text("surely worse: ttft")
    assert_accessible(page)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= page.viewport_size["width"]
    page.screenshot(path=pictures / ("rollout.png" if look == "tall" else f"rollout-{look}.png"))
    opened.get_by_role("table", name="Rollouts of this model").get_by_text("completed").click()
    expect(opened.locator("h2 .badge")).to_have_text("completed")
    page.keyboard.press("Escape")
    expect(opened).to_be_hidden()


@pytest.mark.parametrize(
    ("look", "watched"), {**LOOKS, "tall": TALL}.items(), ids=[*LOOKS, "tall"], indirect=["watched"]
)
def test_a_version_shows_what_runs_where_and_the_command_that_makes_more(
    watched: Watched, fleet: Example, look: str, pictures: Path
) -> None:
    page = watched.open("models?name=llama-3.1-8b")
    opened = page.locator(".opened")
    expect(opened.locator("h2").first).to_have_text("llama-3.1-8b@v2")
    artifacts = opened.get_by_role("table", name="Artifacts")
    for words in ("KL 0.31 nats", "safetensors-to-gguf", "object store 21.0 s", "h100-sxm"):
        expect(artifacts).to_contain_text(words)
    # What the page says is what the terminal says: both are of the same facts.
    with urllib.request.urlopen(f"{fleet.console_url}/admin/registry/llama-3.1-8b", timeout=10) as answer:
        shown = json.load(answer)["shown"]
    best = opened.get_by_role("table", name="Best on each chip").locator("tbody tr")
    expect(best).to_have_count(len(shown["best"]))
    expect(best.first).to_contain_text(shown["best"][0]["chip"])
    assert_accessible(page)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= page.viewport_size["width"]
    page.screenshot(path=pictures / ("model.png" if look == "tall" else f"model-{look}.png"))
    affinity = opened.get_by_role("table", name="What runs where")
    affinity.locator("summary").first.click()
    expect(affinity.locator("code").first).to_contain_text("heterodyne models build llama-3.1-8b@v2 --format")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= page.viewport_size["width"]


def test_versions_are_searched_and_another_one_is_a_link(watched: Watched) -> None:
    page = watched.open("models")
    rows = page.get_by_role("table", name="Versions").locator("tbody tr")
    expect(rows).to_have_count(3)
    page.get_by_label("Search", exact=True).fill("smol")
    expect(rows).to_have_count(1)
    page.get_by_label("Search", exact=True).fill("no-such")
    expect(page.locator("main")).to_contain_text('No model\'s name begins with "no-such"')
    page = watched.open("models?name=llama-3.1-8b@v2")
    page.locator(".opened").get_by_role("link", name="llama-3.1-8b@v1").click()
    expect(page.locator(".opened h2").first).to_have_text("llama-3.1-8b@v1")
    assert "v1" in page.url


def ask(serve: ServeProcess, words: str) -> None:
    body = json.dumps({"model": "chat", "messages": [{"role": "user", "content": words}]}).encode()
    request = urllib.request.Request(f"{serve.url}/v1/chat/completions", body, {"content-type": "application/json"})
    urllib.request.urlopen(request, timeout=30).close()
