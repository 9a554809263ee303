"""Batches in the console: what there are none of, how far they are, and one that is cancelled by hand."""

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.browser.conftest import DESK, TIMEOUT_MS, Watched
from tests.browser.test_views import LOOKS, assert_accessible
from tests.support.threads import in_thread

TALL = {"viewport": {"width": 1280, "height": 1000}}


@pytest.fixture
def serve(browser: Browser, tmp_path: Path) -> Iterator[ServeProcess]:
    """A gateway whose engine answers at once."""
    with (
        in_thread(ScriptedEngine(behaviours.answer("yes"), model="chat")) as engine,
        ServeProcess(tmp_path, config=f'[pools.one]\nmodel = "chat"\nurls = ["{engine.url}"]\n') as gateway,
    ):
        gateway.wait_ready()
        yield gateway


@pytest.fixture
def page(browser: Browser, serve: ServeProcess) -> Iterator[Page]:
    context = browser.new_context(viewport=DESK)
    context.set_default_timeout(TIMEOUT_MS)
    page = context.new_page()
    page.goto(f"{serve.admin_url}/#/batches")
    yield page
    context.close()


def test_a_batch_that_a_client_sends_is_seen_to_end(page: Page, serve: ServeProcess) -> None:
    expect(page.locator("main")).to_contain_text("No batches.")
    expect(page.locator("main")).to_contain_text("heterodyne batch submit")
    assert_accessible(page)
    id = submit(serve, lines=25)
    ended = page.get_by_role("table", name="Batches that ended lately")
    expect(ended).to_contain_text("completed")
    expect(ended).to_contain_text(id[:14])
    expect(ended.locator('[data-title="Answered"]')).to_have_text("25")
    expect(page.locator("main")).to_contain_text("No batch is waiting or running.")
    assert_accessible(page)


@pytest.mark.parametrize(
    ("look", "watched"), {**LOOKS, "tall": TALL}.items(), ids=[*LOOKS, "tall"], indirect=["watched"]
)
def test_a_bar_says_how_far_a_batch_is(watched: Watched, look: str, pictures: Path) -> None:
    page = watched.open("batches")
    row = page.get_by_role("row").filter(has_text="1,250 of 5,000").filter(has_text="done by")
    bar = row.get_by_role("progressbar")
    expect(bar).to_have_attribute("aria-valuenow", "25")
    late = page.get_by_role("row").filter(has_text="globex/support")
    expect(late).to_contain_text("late")
    expect(late).to_contain_text("after its window")
    assert_accessible(page)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= page.viewport_size["width"]
    page.screenshot(path=pictures / ("batches.png" if look == "tall" else f"batches-{look}.png"), full_page=True)


def test_cancelling_asks_first(watched: Watched, pictures: Path) -> None:
    page = watched.open("batches")
    row = page.get_by_role("row").filter(has_text="validating")
    row.get_by_role("button", name="Cancel").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("of acme/batch?")
    assert_accessible(page)
    page.screenshot(path=pictures / "batch-cancel.png")
    dialog.get_by_role("button", name="Keep it").click()
    expect(dialog).to_be_hidden()
    expect(row).to_have_count(1)
    row.get_by_role("button", name="Cancel").click()
    dialog.get_by_role("button", name="Cancel the batch").click()
    expect(dialog).to_be_hidden()
    expect(page.locator("#toasts")).to_contain_text("is being cancelled")
    expect(row).to_have_count(0)
    expect(page.get_by_role("row").filter(has_text="cancelling")).to_have_count(2)


def submit(serve: ServeProcess, lines: int) -> str:
    """A batch of so many chats; its id."""
    body = {"model": "chat", "messages": [{"role": "user", "content": "well?"}]}
    asked = {"method": "POST", "url": "/v1/chat/completions", "body": body}
    content = "\n".join(json.dumps({"custom_id": f"line-{number}", **asked}) for number in range(lines))
    part = 'Content-Disposition: form-data; name="'
    form = f'--x\r\n{part}purpose"\r\n\r\nbatch\r\n--x\r\n{part}file"; filename="a.jsonl"\r\n\r\n{content}\r\n--x--\r\n'
    file = ask(f"{serve.url}/v1/files", form.encode(), "multipart/form-data; boundary=x")
    wanted = {"input_file_id": file, "endpoint": "/v1/chat/completions", "completion_window": "1h"}
    return ask(f"{serve.url}/v1/batches", json.dumps(wanted).encode(), "application/json")


def ask(url: str, body: bytes, content_type: str) -> str:
    request = urllib.request.Request(url, body, {"content-type": content_type})
    with urllib.request.urlopen(request, timeout=30) as answer:
        id: str = json.load(answer)["id"]
    return id
