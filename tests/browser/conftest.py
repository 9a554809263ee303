"""A real Chromium before a real console: the mixed fleet of `examples/`, with requests behind it."""

import asyncio
import os
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Route, ViewportSize, expect, sync_playwright

from tests.support.mixed_fleet import Example, running
from tests.support.mixed_traffic import send_traffic
from tests.support.past import write_past

NAMES = ("chromium", "chromium-browser", "google-chrome")
# A browser at rest must not look anything up on the network; root needs --no-sandbox.
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
TIMEOUT_MS = 20_000  # of whatever is waited for: these machines may be slow
DESK = ViewportSize(width=1280, height=800)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"no browser is installed (looked for {', '.join(NAMES)}); `make tools` installs Debian's Chromium")
    expect.set_options(timeout=TIMEOUT_MS)
    with sync_playwright() as play, play.chromium.launch(executable_path=found, args=list(FLAGS)) as opened:
        yield opened


@pytest.fixture(scope="session")
def fleet(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Example]:
    """Four emulated kinds of silicon and a real llama.cpp, with a day behind them and some requests of now."""
    folder = tmp_path_factory.mktemp("fleet")
    with ThreadPoolExecutor(1) as thread:  # Playwright has an event loop in this one
        thread.submit(lambda: asyncio.run(write_past(folder / "state", time.time()))).result()
    with running(folder) as example:
        send_traffic(example)
        yield example


class Watched:
    """A page, and everything it did that it should not have."""

    def __init__(self, page: Page, base: str) -> None:
        self.page = page
        self.base = base
        self.complaints: list[str] = []
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.context.route("**/*", self._asked)

    def open(self, view: str) -> Page:
        """A view, once its title is there."""
        self.page.goto(f"{self.base}/#/{view}")
        self.page.locator("main h1").wait_for()
        return self.page

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def _asked(self, route: Route) -> None:
        if urlsplit(route.request.url).hostname != urlsplit(self.base).hostname:
            self.complaints.append(f"left the machine: {route.request.url}")
            route.abort()
        else:
            route.continue_()


@pytest.fixture
def watched(browser: Browser, fleet: Example, request: pytest.FixtureRequest) -> Iterator[Watched]:
    """A fresh browser profile on the console; it must end without a complaint."""
    options: dict[str, Any] = {"viewport": DESK, **getattr(request, "param", {})}
    context = browser.new_context(**options)
    context.set_default_timeout(TIMEOUT_MS)
    page = Watched(context.new_page(), fleet.console_url)
    yield page
    context.close()
    assert not page.complaints


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots go: into the docs when `SCREENSHOTS` names the folder."""
    named = os.environ.get("SCREENSHOTS")
    folder = Path(named) if named else tmp_path_factory.mktemp("pictures")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
