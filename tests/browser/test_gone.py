"""A console whose fleet, or whose gateway, goes away: what was so is not shown as what is."""

import json
import re
import socket
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.browser.conftest import DESK, TIMEOUT_MS
from tests.browser.test_signing_in import sign_in
from tests.browser.test_views import assert_accessible
from tests.support.threads import in_thread

KEY = "operator-key-of-this-test"
PATIENCE_MS = 40_000
ASKED_AT_ONCE = 8  # so many are too much for one engine, whatever was learned of it
ASKED_MAX = 30  # times, until both engines have had a request
ANSWER_S = 0.1
ANSWERS = behaviours.answer(delay_s=ANSWER_S)
MESSAGES = [{"role": "user", "content": "hi"}]


class Small:
    """A gateway with two pools of one engine each; `stop_first` ends the engine of the pool `first`."""

    def __init__(self, stack: ExitStack, folder: Path, *, first: behaviours.Behaviour) -> None:
        self._first = ExitStack()
        stack.callback(self._first.close)
        one = self._first.enter_context(in_thread(ScriptedEngine(first, model="chat")))
        other = stack.enter_context(in_thread(ScriptedEngine(ANSWERS, model="chat")))
        pools = "".join(
            f'[pools.{name}]\nmodel = "chat"\nengine = "openai"\nurls = ["{engine.url}"]\n'
            for name, engine in (("first", one), ("second", other))
        )
        self.serve = stack.enter_context(ServeProcess(folder, config=pools))
        self.serve.wait_ready()

    def stop_first(self) -> None:
        self._first.close()

    def ask_many(self) -> Iterator[tuple[str, str]]:
        """What `ask` says of many requests, of which several are asked at once."""
        with ThreadPoolExecutor(ASKED_AT_ONCE) as threads:
            for _ in range(ASKED_MAX):
                yield from [asked.result() for asked in [threads.submit(self.ask) for _ in range(ASKED_AT_ONCE)]]

    def ask(self) -> tuple[str, str]:
        """The request's id, and the pool that answered."""
        body = json.dumps({"model": "chat", "messages": MESSAGES}).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(f"{self.serve.url}/v1/chat/completions", body, headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            answer.read()
            return str(answer.headers["x-heterodyne-request-id"]), str(answer.headers["x-heterodyne-pool"])


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport=DESK)
    context.set_default_timeout(TIMEOUT_MS)
    yield context.new_page()
    context.close()


def test_a_killed_pool_and_then_a_dead_gateway_are_shown_as_what_they_are(
    page: Page, tmp_path: Path, pictures: Path
) -> None:
    with ExitStack() as stack:
        small = Small(stack, tmp_path, first=ANSWERS)
        assert any(pool == "first" for _, pool in small.ask_many())
        page.goto(f"{small.serve.admin_url}/#/fleet")
        cards = page.locator("article.pool")
        first = page.locator("[data-pool=first]")
        expect(first.locator(".badge")).to_have_text("ready")
        expect(first.locator(".facts > div", has_text="Tokens").locator("dd")).to_have_text(re.compile("[1-9]"))
        second = page.locator("[data-pool=second]")
        expect(second.locator(".badge")).to_have_text("ready")

        small.stop_first()
        expect(first.locator(".badge").first).to_have_text("down", timeout=PATIENCE_MS)
        expect(cards.first).to_have_attribute("data-pool", "first")
        expect(first.locator(".facts > div", has_text="Running").locator("dd")).to_have_text("– · –")
        expect(first).to_have_class(re.compile("out"))
        assert_accessible(page)
        wait_for_views(page)
        page.locator("nav a", has_text="Latency").click()
        title = page.locator("main h2").first
        expect(title).to_contain_text("p99")
        small.serve.process.kill()
        small.serve.process.wait()
        # An old picture keeps its name when the next cannot be fetched.
        page.get_by_label("Percentile", exact=True).select_option("p50")
        expect(page.locator("main .panel-trouble").first).to_contain_text("What is below is older")
        expect(title).to_contain_text("p99")

        page.locator("nav a", has_text="Fleet").click()
        expect(page.locator(".stale-line")).to_contain_text("has not been heard since")
        expect(page.locator(".alerts-button")).to_have_text("Alerts unknown")
        good = second.locator(".badge")
        assert_grey(page, good.evaluate("(one) => getComputedStyle(one).color"))
        page.locator(".alerts-button").click()
        expect(page.get_by_role("dialog")).to_contain_text("what is wrong now is not known")
        page.keyboard.press("Escape")
        assert_accessible(page)
        page.screenshot(path=pictures / "gateway-gone.png")

        # A view that was not opened before is there all the same, and says what it lacks.
        page.locator("nav a", has_text="Capacity").click()
        expect(page.locator("main h1")).to_have_text("Capacity")
        expect(page.locator("main")).to_contain_text("cannot be reached")
        expect(page.locator("main")).not_to_contain_text("dynamically imported")


def test_a_retried_request_names_who_failed(page: Page, tmp_path: Path) -> None:
    with ExitStack() as stack:
        small = Small(stack, tmp_path, first=behaviours.refuse(500, "broken"))
        page.goto(f"{small.serve.admin_url}/#/fleet")
        expect(page.locator("[data-pool=first]")).to_be_visible()
        for request_id, _ in small.ask_many():
            with urllib.request.urlopen(f"{small.serve.admin_url}/admin/decisions/{request_id}", timeout=10) as answer:
                record = json.load(answer)["record"]
            if record and record.get("retries"):
                break
        else:
            raise AssertionError("no request was retried")
        page.goto(f"{small.serve.admin_url}/#/requests?id={request_id}")
        detail = page.locator(".detail")
        expect(detail).to_contain_text("1 retry, after first-0 (engine failed)")
        expect(detail.locator(".facts > div", has_text="Failed before").locator("dd")).to_contain_text("first-0")
        expect(detail).not_to_contain_text("1 retries")
        expect(detail).to_contain_text("Until the whole answer")


def test_a_restart_of_the_gateway_signs_nobody_out(page: Page, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    config = f'[console]\noperator_keys_sha256 = ["{sha256(KEY.encode()).hexdigest()}"]\n'
    environment = {"HETERODYNE_CONSOLE__PORT": str(port)}
    with in_thread(ScriptedEngine(behaviours.stream(3), model="chat")) as engine:
        config += f'[pools.first]\nmodel = "chat"\nengine = "openai"\nurls = ["{engine.url}"]\n'
        with ServeProcess(tmp_path, config=config, environment=environment) as serve:
            serve.wait_ready()
            page.goto(f"{serve.admin_url}/#/fleet")
            sign_in(page, KEY)
            expect(page.locator("[data-pool=first]")).to_be_visible()
            assert serve.stop() == 0
        with ServeProcess(tmp_path, config=config, environment=environment) as serve:
            serve.wait_ready()
            expect(page.locator(".connection")).to_have_attribute("data-state", "on", timeout=PATIENCE_MS)
            page.reload()
            expect(page.locator("[data-pool=first]")).to_be_visible()
            page.get_by_role("button", name="Sign out").click()
            expect(page.get_by_label("Operator key")).to_be_visible()
            assert serve.stop() == 0


def wait_for_views(page: Page) -> None:
    """Until every view has been fetched ahead."""
    page.wait_for_function(
        """() => performance.getEntriesByType("resource").filter((one) => one.name.endsWith("/plan.js")).length > 0
            && performance.getEntriesByType("resource").every((one) => one.responseEnd > 0)"""
    )
    page.wait_for_load_state("load")


def assert_grey(page: Page, colour: str) -> None:
    muted = page.evaluate(
        """() => {
            const probe = document.createElement("span");
            probe.style.setProperty("color", "var(--muted)");
            document.body.append(probe);
            const colour = getComputedStyle(probe).color;
            probe.remove();
            return colour;
        }"""
    )
    assert colour == muted
