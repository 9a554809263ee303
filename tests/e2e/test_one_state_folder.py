"""Two gateways of one machine on one state folder: one database, one audit log, and one set of counters."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.support.threads import in_thread

A_DAY = 3
WITHIN_S = 40.0


def test_budgets_are_kept_per_state_folder_and_not_per_port(tmp_path: Path) -> None:
    with ExitStack() as stack:
        engine = stack.enter_context(in_thread(ScriptedEngine(behaviours.answer())))
        config = f'[pools.chat]\nmodel = "chat"\nengine_model = "scripted"\nurls = ["{engine.url}"]\n'
        gateways = []
        for name in ("one", "two"):
            folder = tmp_path / name
            folder.mkdir()
            environment = {"XDG_STATE_HOME": str(tmp_path / "state")}
            gateways.append(stack.enter_context(ServeProcess(folder, config=config, environment=environment)))
            gateways[-1].wait_ready()
        one, two = gateways
        post(one.admin_url, "/admin/organisations", {"id": "acme"})
        post(one.admin_url, "/admin/projects", {"id": "acme/search", "limits": {"requests_per_day": A_DAY}})
        _, issued = post(one.admin_url, "/admin/keys", {"project": "acme/search"})
        key = str(json.loads(issued)["secret"])
        wait_until(lambda: ask(two, key, "/v1/models") == 200)

        statuses = [ask(gateway, key) for gateway in (one, two) * A_DAY]
        assert sorted(statuses) == [200] * A_DAY + [429] * A_DAY, "three a day, whichever port is asked"

        time.sleep(2.5)  # after which a crash forgets nothing of it
        one.process.kill()
        one.process.wait()
        wait_until(lambda: any(event["event"] == "leases_back" for event in two.events()) or ask(two, key) == 429)
        assert ask(two, key) == 429, "whoever takes the counters over goes on from them"
        assert two.stop() == 0


def ask(gateway: ServeProcess, key: str, path: str = "/v1/chat/completions") -> int:
    body = {"model": "chat", "messages": [{"role": "user", "content": "hi"}]} if path.endswith("completions") else None
    return post(gateway.url, path, body, key)[0]


def post(url: str, path: str, body: object, key: str = "") -> tuple[int, bytes]:
    headers = {"content-type": "application/json", **({"authorization": f"Bearer {key}"} if key else {})}
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url + path, data, headers), timeout=30) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def wait_until(is_so: Callable[[], bool]) -> None:
    until_s = time.monotonic() + WITHIN_S
    while not is_so():
        assert time.monotonic() < until_s
        time.sleep(0.05)
