"""Four views of the console over a small emulated fleet: tenants, capacity, plans and rehearsals."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from heterodyne.emulator.server import EmulatorServer
from heterodyne.testing.serve_process import ServeProcess
from tests.support.emulators import order
from tests.support.threads import in_thread

MODEL = "llama-3.1-8b"
REQUESTS = 60
WITHIN_S = 20.0
LATE_MAX = 3
CONFIG = """
[pools.fast]
model = "llama-3.1-8b"
engine = "vllm"
urls = ["{0}", "{1}"]
hardware = "h100-sxm"
precision = "fp8"
price_usd_per_hour = 3.0

[pools.unknown]
model = "llama-3.1-8b"
engine = "vllm"
urls = ["{2}"]

[models."llama-3.1-8b"]
policy = "cost"
slo_ttft_ms = 500
"""


class Console:
    """The admin API, and whoever was created through it."""

    def __init__(self, serve: ServeProcess) -> None:
        self._serve = serve
        self.secret = ""

    def get(self, path: str) -> Any:
        return self._ask(urllib.request.Request(self._serve.admin_url + path))

    def post(self, path: str, **body: object) -> Any:
        """What is worked out has a bound, which a busy machine may pass: whoever wants it asks again."""
        request = _json_request(self._serve.admin_url + path, body)
        for _ in range(LATE_MAX):
            try:
                return self._ask(request)
            except urllib.error.HTTPError as error:
                if error.code != HTTPStatus.GATEWAY_TIMEOUT:
                    raise
                error.close()
        return self._ask(request)

    def refused(self, path: str, **body: object) -> tuple[int, str]:
        with pytest.raises(urllib.error.HTTPError) as caught:
            self.post(path, **body)
        with caught.value as answer:
            return answer.code, json.load(answer)["error"]["code"]

    def chat(self, number: int) -> int:
        request = _json_request(
            f"{self._serve.url}/v1/chat/completions",
            {"model": MODEL, "messages": [{"role": "user", "content": f"{number} " + "word " * number}]},
        )
        request.add_header("authorization", f"Bearer {self.secret}")
        try:
            with urllib.request.urlopen(request, timeout=WITHIN_S) as answer:
                answer.read()
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def children(self) -> list[bytes]:
        """The words that each child of the supervisor was started with."""
        return [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in self._serve.children()]

    @staticmethod
    def _ask(request: urllib.request.Request) -> Any:
        with urllib.request.urlopen(request, timeout=90) as answer:
            return json.load(answer)


def _json_request(url: str, body: dict[str, object]) -> urllib.request.Request:
    return urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})


def wait_for(read: Callable[[], Any], is_so: Callable[[Any], bool]) -> Any:
    until_s = time.monotonic() + WITHIN_S
    while not is_so(found := read()):
        assert time.monotonic() < until_s, found
        time.sleep(0.2)
    return found


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    with ExitStack() as stack:
        engines = [stack.enter_context(in_thread(EmulatorServer(order()))) for _ in range(3)]
        config = CONFIG.format(*(engine.url for engine in engines))
        serve = stack.enter_context(ServeProcess(tmp_path_factory.mktemp("desks"), config=config))
        serve.wait_ready()
        console = Console(serve)
        limits = {"requests_per_day": REQUESTS, "usd_per_month": 50.0}
        console.post("/admin/organisations", id="acme")
        console.post("/admin/projects", id="acme/search", limits=limits)
        console.secret = console.post("/admin/keys", project="acme/search")["secret"]
        with ThreadPoolExecutor(8) as pool:
            statuses = list(pool.map(console.chat, range(REQUESTS)))
        assert statuses == [200] * REQUESTS, serve.log[-4000:]
        assert console.chat(REQUESTS) == 429, "the day's requests are used up"
        wait_for(lambda: len(_requests(console)), lambda count: count == REQUESTS + 1)
        yield console
        assert serve.stop() == 0, serve.log


def _requests(console: Console) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = console.get("/admin/usage/requests?limit=1000")["requests"]
    return rows


def test_tenants_show_what_the_records_add_up_to(console: Console) -> None:
    page = wait_for(lambda: console.get("/admin/tenants"), lambda page: page["tenants"][0]["refused"] != {})
    [row] = page["tenants"]
    records = _requests(console)
    assert (row["project"], row["organisation"], row["tier"]) == ("acme/search", "acme", "silver")
    assert row["requests"] == len(records)
    assert row["completion_tokens"] == sum(one["completion_tokens"] for one in records)
    assert row["usd"] == pytest.approx(sum(one["usd_micro"] for one in records) / 1e6)
    assert row["refused"] == {"rate_limit_exceeded": 1}
    limits = {one["limit_name"]: one for one in row["limits"]}
    assert (limits["requests_per_day"]["used"], limits["requests_per_day"]["limit"]) == (REQUESTS, REQUESTS)
    assert row["limits"][0]["limit_name"] == "requests_per_day", "the most used first"
    assert 0 < limits["usd_per_month"]["used"] < 50
    assert console.get("/admin/tenants?search=other")["tenants"] == []


def test_capacity_says_what_is_known_and_what_is_not(console: Console) -> None:
    [model] = console.get("/admin/capacity")["models"]
    records = [one for one in _requests(console) if one["status"] == 200]
    assert model["prompt_tokens_mean"] == pytest.approx(sum(one["prompt_tokens"] for one in records) / len(records))
    fast, unknown = model["pools"]
    assert (fast["pool"], fast["replicas"], unknown["requests_per_s_max"]) == ("fast", 2, None)
    assert fast["requests_per_s_max"] > 1
    assert "names no hardware" in unknown["basis"]
    assert model["requests_per_s"] > 0
    assert 0 < model["load"] < 1
    assert model["headroom_requests_per_s"] > 0
    assert len(model["forecast"]) == 36
    assert all(one["low"] <= one["requests_per_s"] <= one["high"] for one in model["forecast"])
    assert model["loss"]["pool"] == "fast"
    assert model["loss"]["is_enough"] is True
    assert model["purchase"] == []
    assert "carries" in model["purchase_note"]


def test_the_planner_answers_forms(console: Console) -> None:
    options = console.get("/admin/plan/options")
    assert MODEL in [one["name"] for one in options["models"]]
    assert {key: options["pools"][0][key] for key in ("pool", "shape")} == {"pool": "fast", "shape": MODEL}

    memory = console.post("/admin/plan/memory", model="llama-3.1-70b", hardware="h100-sxm")
    assert memory["is_fitting"] is False
    assert memory["changes"]
    assert sum(one["bytes"] for one in memory["parts"]) == pytest.approx(memory["memory_bytes"])

    hardware = console.post("/admin/plan/hardware", model=MODEL, traffic={"requests_per_s": 20})
    costs = [one["usd_per_million_tokens"] for one in hardware["choices"] if one["usd_per_million_tokens"] is not None]
    assert costs == sorted(costs)
    assert all(one["ttft_ms"] <= hardware["slo_ttft_ms"] for one in hardware["choices"])
    curve = [point["itl_ms"] for point in hardware["choices"][0]["curve"]]
    assert curve == sorted(curve)

    mix = console.post(
        "/admin/plan/mix", model=MODEL, precision="fp8", traffic={"recorded_model": MODEL, "requests_per_s": 100}
    )
    assert mix["usd_per_hour"] == pytest.approx(sum(one["usd_per_hour"] for one in mix["kinds"]))
    assert sum(one["requests_per_s"] for one in mix["buckets"]) == pytest.approx(100)
    assert all(sum(one["shares"].values()) == pytest.approx(1) for one in mix["buckets"])
    assert mix["notes"][0] == f"{REQUESTS} recorded requests"


def test_the_console_reads_no_file_for_a_planner(console: Console, tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text("{}", encoding="utf-8")
    for path in (str(config), str(tmp_path), "../models/x.gguf"):
        assert console.refused("/admin/plan/memory", model=path, hardware="h100-sxm") == (404, "unknown_name")
        assert console.refused("/admin/plan/hardware", model=path) == (404, "unknown_name")
    assert console.refused("/admin/plan/mix", model=MODEL, traffic={"recorded_model": "nobody"})[0] == 422
    assert console.refused("/admin/plan/memory", model=MODEL, hardware="h100-sxm", colour="red")[0] == 400


def test_a_rehearsal_puts_policies_beside_each_other(console: Console) -> None:
    page = console.post("/admin/rehearsal", model=MODEL, policies=["slo", "cost", "round-robin"])
    assert page["requests"] == REQUESTS
    assert [(row["policy"], row["is_used"]) for row in page["rows"]] == [
        ("slo", False),
        ("cost", True),
        ("round-robin", False),
    ]
    assert all(sum(pool["requests"] for pool in row["pools"]) == REQUESTS for row in page["rows"])
    assert all(row["usd"] > row["usd_busy"] > 0 for row in page["rows"])
    assert page["left_out"] == ["unknown: it names no hardware"]
    assert any("cache" in note for note in page["notes"])
    assert console.refused("/admin/rehearsal", model="nobody") == (404, "unknown_name")
    assert console.refused("/admin/rehearsal", model=MODEL, policies=["guess"]) == (404, "unknown_name")
    assert console.refused("/admin/rehearsal", model=MODEL, since_at=1, until_at=2) == (422, "cannot_plan")


def test_the_processes_that_worked_it_out_are_gone(console: Console) -> None:
    console.post("/admin/plan/hardware", model=MODEL)
    assert not [one for one in console.children() if b"_child" in one]
