"""What policies found in a request is on its page: where, and what was done; never the words."""

import json
import urllib.request
from pathlib import Path

from playwright.sync_api import Browser, expect

from heterodyne.safety.registry import GUARDS
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.browser.conftest import DESK, TIMEOUT_MS
from tests.browser.test_views import assert_accessible
from tests.support.guards import EMAIL
from tests.support.threads import in_thread

CONFIG = """
[pools.chat]
model = "chat"
engine = "openai"
urls = ["{url}"]

[guards.private]
guard = "pii"
action = "mask"
"""


def test_the_page_of_a_request_has_its_verdicts(browser: Browser, tmp_path: Path) -> None:
    engine = ScriptedEngine(behaviours.answer(), model="chat")
    with in_thread(engine), ServeProcess(tmp_path, config=CONFIG.format(url=engine.url)) as serve:
        serve.wait_ready()
        body = json.dumps({"model": "chat", "messages": [{"role": "user", "content": f"ask {EMAIL}"}]}).encode()
        asked = urllib.request.Request(f"{serve.url}/v1/chat/completions", body, {"content-type": "application/json"})
        with urllib.request.urlopen(asked, timeout=30) as answer:
            request_id = answer.headers["x-heterodyne-request-id"]
        context = browser.new_context(viewport=DESK)
        context.set_default_timeout(TIMEOUT_MS)
        page = context.new_page()
        page.goto(f"{serve.admin_url}/#/requests?id={request_id}")
        row = page.get_by_role("region", name="Policies").locator("tbody tr")
        for words in (
            "private",
            f"pii {GUARDS['pii'].version}",
            "email",
            "messages[0].content",
            f"4 to {4 + len(EMAIL)}",
            "masked",
        ):
            expect(row).to_contain_text(words)
        expect(page.locator("main")).not_to_contain_text(EMAIL)
        assert_accessible(page)
        context.close()
