"""The console of a gateway that really runs: who gets in, what is live, and a chat that goes where it is sent."""

import hashlib
import http.client
import json
import math
import signal
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest
import trustme
from msgspec import structs

from heterodyne.console.history.figures import figures_of
from heterodyne.console.history.pages import Figures
from heterodyne.console.live.pages import LivePage
from heterodyne.console.security_headers import SECURITY_HEADERS
from heterodyne.domain.usage import UsageRecord
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.support.plain_sums import sums_of
from tests.support.threads import in_thread

MODEL = "chat"
TOKENS = 5
ENDLESS = 100_000
SPREADS = ("ttft", "itl", "total", "queue")
WITHIN_S = 20.0
OPERATOR, VIEWER = "operator-key", "viewer-key"
CHAT = {"model": MODEL, "messages": [{"role": "user", "content": "a secret prompt"}]}


def digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


KEYS = f'[console]\noperator_keys_sha256 = ["{digest(OPERATOR)}"]\n'
VIEWERS = f'viewer_keys_sha256 = ["{digest(VIEWER)}"]\n'


def pools(*engines: ScriptedEngine) -> str:
    return "".join(
        f'[pools.{name}]\nmodel = "{MODEL}"\nengine = "openai"\nurls = ["{engine.url}"]\nprice_usd_per_hour = 1.0\n'
        for name, engine in zip(("first", "second"), engines, strict=False)
    )


class Console:
    """A browser's side of the door."""

    def __init__(self, serve: ServeProcess) -> None:
        self.netloc = urlsplit(serve.admin_url).netloc
        self.cookie = ""

    def send(self, method: str, path: str, body: object = None, **headers: str) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection(self.netloc, timeout=WITHIN_S)
        said = {"origin": f"http://{self.netloc}", "x-heterodyne-console": "1", "content-type": "application/json"}
        if self.cookie:
            said["cookie"] = self.cookie
        connection.request(method, path, None if body is None else json.dumps(body), {**said, **headers})
        return connection

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, Any]:
        with closing(self.send(method, path, body, **headers)) as connection:
            answer = connection.getresponse()
            if "set-cookie" in answer.headers:
                self.cookie = answer.headers["set-cookie"].partition(";")[0]
            content = answer.read()
            is_json = answer.headers.get("content-type") == "application/json"
            return answer.status, json.loads(content) if is_json else content

    def sign_in(self, key: str) -> "Console":
        assert self.ask("POST", "/session", {"key": key})[0] == 200
        return self

    def records(self) -> list[UsageRecord]:
        """The latest, as the books have them."""
        _, page = self.ask("GET", "/admin/usage/requests?limit=500")
        return [_record(row) for row in page["requests"]]

    @contextmanager
    def live(self) -> Iterator[Iterator[LivePage]]:
        with closing(self.send("GET", "/admin/live")) as connection:
            yield _pages(connection.getresponse())


def _record(row: dict[str, Any]) -> UsageRecord:
    fields = {"urgency": row["class"], **row}
    return UsageRecord(**{name: fields[name] for name in UsageRecord.__struct_fields__})


def _pages(answer: http.client.HTTPResponse) -> Iterator[LivePage]:
    while line := answer.readline():
        if line.startswith(b"data: "):
            yield msgspec.json.decode(line.removeprefix(b"data: "), type=LivePage)


def events(answer: http.client.HTTPResponse) -> Iterator[tuple[str, str]]:
    """Names and data, as they come."""
    name = "message"
    while line := answer.readline().decode():
        field, _, text = line.rstrip("\n").partition(": ")
        if field == "event":
            name = text
        elif field == "data":
            yield name, text
            name = "message"


@asynccontextmanager
async def engines(*tokens: int) -> AsyncIterator[list[ScriptedEngine]]:
    several = [ScriptedEngine(behaviours.stream(count, delay_s=0.01), model=MODEL) for count in tokens]
    for one in several:
        await one.open()
    try:
        yield several
    finally:
        for one in several:
            await one.close()


@pytest.fixture(scope="module")
def fleet() -> Iterator[list[ScriptedEngine]]:
    with in_thread(engines(TOKENS, ENDLESS)) as several:
        yield several


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory, fleet: list[ScriptedEngine]) -> Iterator[ServeProcess]:
    folder = tmp_path_factory.mktemp("door")
    with ServeProcess(folder, "--workers", "2", config=KEYS + VIEWERS + pools(*fleet)) as one:
        one.wait_ready()
        yield one


@pytest.fixture
def console(serve: ServeProcess) -> Console:
    return Console(serve).sign_in(OPERATOR)


def wait_until(is_so: Callable[[], object]) -> None:
    until_s = time.monotonic() + WITHIN_S
    while not is_so():
        assert time.monotonic() < until_s, f"not within {WITHIN_S:g} s"
        time.sleep(0.02)


def are_same(one: Figures, other: Figures) -> bool:
    """But for the last digits of means, which depend on the order in which times were added up."""
    means = [getattr(figures, name).mean_ms for figures in (one, other) for name in SPREADS]
    half = len(means) // 2
    return all(map(_is_close, means[:half], means[half:])) and _without_means(one) == _without_means(other)


def _is_close(one: float | None, other: float | None) -> bool:
    return one == other if one is None or other is None else math.isclose(one, other)


def _without_means(figures: Figures) -> Figures:
    spreads = {name: structs.replace(getattr(figures, name), mean_ms=None) for name in SPREADS}
    return structs.replace(figures, **spreads)


def test_every_answer_tells_the_browser_to_run_nothing_else(serve: ServeProcess, console: Console) -> None:
    for method, path in (
        ("GET", "/"),
        ("HEAD", "/"),
        ("GET", "/static/lib/chart.js"),
        ("GET", "/static/nothing"),
        ("GET", "/health"),
        ("GET", "/session"),
        ("GET", "/admin/fleet"),
        ("PUT", "/admin/fleet"),
        ("POST", "/admin/fleet/drain"),
        ("GET", "/nowhere"),
    ):
        with closing(console.send(method, path)) as connection:
            headers = connection.getresponse().headers
            for name, text in SECURITY_HEADERS:
                assert headers.get_all(name) == [text], (method, path, name)
    with socket.create_connection((urlsplit(serve.admin_url).hostname, urlsplit(serve.admin_url).port)) as raw:
        raw.sendall(b"this is not HTTP\r\n\r\n")
        assert b"content-security-policy: default-src 'none'" in raw.recv(65536)


def test_no_path_leads_out_of_the_page(console: Console) -> None:
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2f..%2fetc/passwd", "/static//etc/passwd"):
        status, _ = console.ask("GET", path)
        assert status == 404, path


def test_a_page_a_second_and_its_figures_are_those_of_the_records(console: Console) -> None:
    for _ in range(10):
        assert console.ask("POST", "/admin/playground", {**CHAT, "pool": "first"})[0] == 200

    def is_equal(page: LivePage) -> bool:
        since, until = page.until_at - page.window_s, page.until_at
        records = [one for one in console.records() if since <= int(one.at + one.total_ms / 1000) < until]
        [pool] = [one for one in page.pools if one.pool == "first"]
        of_pool = [one for one in records if one.pool == "first"]
        return (
            len(of_pool) >= 10
            and are_same(pool.last_minute, figures_of(sums_of(of_pool), page.window_s))
            and are_same(page.whole, figures_of(sums_of(records), page.window_s))
        )

    with console.live() as pages:
        first, second = next(pages), next(pages)
        assert (first.window_s, second.at > first.at) == (60, True)
        wait_until(lambda: is_equal(next(pages)))


def test_signing_out_ends_the_live_feed(serve: ServeProcess) -> None:
    console = Console(serve).sign_in(VIEWER)
    with console.live() as pages:
        next(pages)
        assert console.ask("DELETE", "/session")[0] == 200
        assert len(list(pages)) <= 2  # and no more, though the connection is still there


def test_a_chat_streams_from_the_pool_it_was_sent_to(console: Console, fleet: list[ScriptedEngine]) -> None:
    asked = len(fleet[0].calls)
    with closing(console.send("POST", "/admin/playground", {**CHAT, "pool": "first", "max_tokens": 7})) as connection:
        answer = connection.getresponse()
        assert answer.headers["content-type"].startswith("text/event-stream")
        (name, placed), *rest = events(answer)
    told = json.loads(placed)
    assert (name, told["pool"], told["replica"], told["status"]) == ("placed", "first", "first-0", 200)
    assert told["request_id"].startswith("req_")
    assert told["decision"]
    assert rest[-1] == ("message", "[DONE]")
    words = [json.loads(data)["choices"] for name, data in rest[:-1]]
    assert sum(bool(choices and choices[0]["delta"].get("content")) for choices in words) == TOKENS
    [call] = fleet[0].calls[asked:]
    assert (call.json["max_tokens"], call.json["messages"]) == (7, CHAT["messages"])


def test_the_engine_stops_when_the_browser_leaves(console: Console, fleet: list[ScriptedEngine]) -> None:
    with closing(console.send("POST", "/admin/playground", {**CHAT, "pool": "second"})) as connection:
        some = events(connection.getresponse())
        assert next(some)[0] == "placed"
        assert '"delta"' in next(some)[1]
        [call] = [one for one in fleet[1].calls if not one.was_cancelled]
    wait_until(lambda: call.was_cancelled)


def test_a_refusal_of_the_gateway_is_an_event(console: Console) -> None:
    with closing(console.send("POST", "/admin/playground", {**CHAT, "model": "nothing"})) as connection:
        (_, placed), (name, data) = events(connection.getresponse())
    assert json.loads(placed)["status"] == 404
    assert (name, json.loads(data)["error"]["code"]) == ("error", "model_not_found")


def test_a_pool_is_chosen_by_the_console_alone(serve: ServeProcess) -> None:
    request = urllib.request.Request(
        f"{serve.url}/v1/chat/completions",
        json.dumps(CHAT).encode(),
        {"content-type": "application/json", "x-heterodyne-pool": "first"},
    )
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request, timeout=WITHIN_S)
    with caught.value as answer:
        assert (answer.status, json.load(answer)["error"]["code"]) == (403, "not_allowed")


def test_a_viewer_looks_and_does_nothing(serve: ServeProcess, fleet: list[ScriptedEngine]) -> None:
    console, asked = Console(serve).sign_in(VIEWER), len(fleet[0].calls)
    assert console.ask("GET", "/admin/now")[0] == 200
    for path, body in (("/admin/playground", CHAT), ("/admin/fleet/drain", {"pool": "first"})):
        status, error = console.ask("POST", path, body)
        assert (status, error["error"]["code"]) == (403, "read_only")
    assert len(fleet[0].calls) == asked


def test_no_prompt_is_in_the_log(serve: ServeProcess, console: Console) -> None:
    console.ask("POST", "/admin/playground", {**CHAT, "pool": "first"})
    console.ask("POST", "/admin/playground", {**CHAT, "model": "nothing"})
    assert "playground_asked" in serve.log
    assert "a secret prompt" not in serve.log


def test_a_reload_that_drops_a_key_signs_its_owner_out(tmp_path: Path, fleet: list[ScriptedEngine]) -> None:
    with ServeProcess(tmp_path, config=KEYS + VIEWERS + pools(fleet[0])) as serve:
        serve.wait_ready()
        viewer, operator = Console(serve).sign_in(VIEWER), Console(serve).sign_in(OPERATOR)
        serve.config_file.write_text(KEYS + pools(fleet[0]), encoding="utf-8")
        assert operator.ask("POST", "/admin/reload", {})[0] == 200
        assert viewer.ask("GET", "/admin/now")[0] == 401
        assert operator.ask("GET", "/admin/now")[0] == 200


def test_an_open_console_does_not_hold_up_the_end(tmp_path: Path, fleet: list[ScriptedEngine]) -> None:
    with ServeProcess(tmp_path, config=pools(fleet[0])) as serve:
        serve.wait_ready()
        with Console(serve).live() as pages:
            next(pages)
            assert serve.stop(signal.SIGTERM) == 0
            list(pages)  # it comes to an end
        assert "Cancel" not in serve.log


def test_the_playground_speaks_tls_with_a_gateway_that_does(tmp_path: Path, fleet: list[ScriptedEngine]) -> None:
    issuer = trustme.CA()
    certificate = issuer.issue_cert("gateway.example")
    key_file, chain_file = tmp_path / "key.pem", tmp_path / "chain.pem"
    certificate.private_key_pem.write_to_path(str(key_file))
    for pem in certificate.cert_chain_pems:
        pem.write_to_path(str(chain_file), append=True)
    tls = f'[gateway]\ntls_certificate = "{chain_file}"\ntls_key = "{key_file}"\n'
    with ServeProcess(tmp_path, config=tls + pools(fleet[0])) as serve:
        serve.tls = ssl.create_default_context()
        serve.tls.check_hostname = False
        issuer.configure_trust(serve.tls)
        serve.wait_ready()
        with closing(Console(serve).send("POST", "/admin/playground", CHAT)) as connection:
            (_, placed), *rest = events(connection.getresponse())
    assert json.loads(placed)["status"] == 200
    assert rest[-1] == ("message", "[DONE]")
