"""KV as the admin API tells it, over emulated replicas and two workers: what was sent through either is there."""

import json
import time
import urllib.request
from pathlib import Path
from typing import Any

from heterodyne.emulator.server import EmulatorServer
from heterodyne.testing.serve_process import ServeProcess
from tests.support.emulators import order
from tests.support.kv_console import kv_gateway, kv_page, send_prompts
from tests.support.threads import in_thread

WAIT_S = 30.0
OFF = """
[models."llama-3.1-8b"]
kv = "stateless"

[pools.plain]
model = "llama-3.1-8b"
engine = "vllm"
urls = ["{}"]
"""


def test_what_two_workers_know_of_kv_is_one_page(tmp_path: Path) -> None:
    with kv_gateway(tmp_path, workers=2) as gateway:
        send_prompts(gateway, questions=6, stories=4)
        page = page_with_prompts(gateway, 10)
        assert (page["is_on"], page["is_moving"], page["gateways"]) == (True, True, 1)
        mix = page["mix"]
        assert mix["own"] > 1000, "the rules of the shop are remembered"
        assert mix["prefill"] > 5000, "the stories are computed by one and answered by another"
        by_pool = {pool["pool"]: pool for pool in page["pools"]}
        assert (by_pool["prompts"]["role"], by_pool["shop"]["store"]) == ("prefill", "shared")
        assert by_pool["answers"]["held_tokens"] > 0
        assert 0 < by_pool["answers"]["host_bytes"] <= by_pool["answers"]["host_bytes_max"]
        [store] = page["stores"]
        assert 0 < store["held_bytes"] < store["capacity_bytes"]
        assert store["pools"] == ["shop"]
        [link] = [one for one in page["links"] if one["source"] == "prompts"]
        assert (link["target"], link["transfers"], link["failed"]) == ("answers", 4, 0)
        [prefill] = [one for one in page["origins"] if one["origin"] == "prefill"]
        assert prefill["arrived"] + prefill["withheld"] == 4
        hottest = page["prefixes"][0]
        assert hottest["model"] == "shop-8b"
        assert hottest["held_by"]
        assert "boats" not in json.dumps(page)


def test_with_kv_off_nothing_is_told_of_it(tmp_path: Path) -> None:
    with in_thread(EmulatorServer(order())) as engine, ServeProcess(tmp_path, config=OFF.format(engine.url)) as gateway:
        gateway.wait_ready()
        send_prompts(gateway, questions=0, stories=1)
        page = kv_page(gateway)
        assert (page["is_on"], page["is_moving"]) == (False, False)
        assert page["replicas"] == page["links"] == page["prefixes"] == page["origins"] == []
        with urllib.request.urlopen(f"{gateway.admin_url}/admin/openapi.json", timeout=10) as answer:
            assert "/admin/kv" in json.load(answer)["paths"]


def page_with_prompts(gateway: ServeProcess, prompts: int) -> Any:
    """Once workers have told of so many, and of what they begin with."""
    until_s = time.monotonic() + WAIT_S
    while True:
        page = kv_page(gateway)
        # A worker tells what two of its own prompts begin with: one that came alone to the other is not among them.
        if page["mix"]["prompts"] >= prompts and any(round(one["prompts"]) >= 5 for one in page["prefixes"]):
            return page
        assert time.monotonic() < until_s, page
        time.sleep(0.2)
