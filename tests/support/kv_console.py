"""Four emulated replicas that exchange KV behind a gateway that runs, with prompts that begin alike sent to them."""

import json
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from heterodyne.emulator.server import EmulatorServer
from heterodyne.testing.serve_process import ServeProcess
from tests.support.emulators import order
from tests.support.threads import in_thread

MODEL = "llama-3.1-8b"  # whose prompts are computed by one replica and answered by another
SHOP = "shop-8b"  # whose two replicas share a store
RULES = "You are the assistant of a shop that sells boats, sails, ropes and paint. Be brief, be kind, be right. " * 20
STORY = "the sea is wide and deep and blue and cold, "
CONFIG = """
[gateway]
workers = {workers}

[models."llama-3.1-8b"]
kv = "auto"
slo_ttft_ms = 500

[models."shop-8b"]
kv = "auto"

[kv_stores.shared]
medium = "memory"
capacity_gb = 40
ttl_s = 3600

[pools.prompts]
model = "llama-3.1-8b"
engine = "vllm"
urls = ["{urls[0]}"]
role = "prefill"
kv_transfer = "nixl"
kv_link = "h100-sxm"
hardware = "h100-sxm"
version = "1"
precision = "fp8"
price_usd_per_hour = 3.6

[pools.answers]
model = "llama-3.1-8b"
engine = "vllm"
urls = ["{urls[1]}"]
role = "decode"
kv_transfer = "nixl"
kv_link = "h100-sxm"
hardware = "l4"
version = "1"
precision = "fp8"
kv_host_gb = 32
price_usd_per_hour = 0.8

[pools.shop]
model = "shop-8b"
shape = "llama-3.1-8b"
engine = "vllm"
urls = ["{urls[2]}", "{urls[3]}"]
kv_transfer = "lmcache"
kv_store = "shared"
hardware = "l4"
version = "1"
precision = "fp8"
price_usd_per_hour = 0.8
"""


@contextmanager
def kv_gateway(folder: Path, *, workers: int = 1) -> Iterator[ServeProcess]:
    """It serves when this is entered; nothing was asked yet."""
    with ExitStack() as stack:
        orders = [order(served_model=model) for model in (MODEL, MODEL, SHOP, SHOP)]
        engines = [stack.enter_context(in_thread(EmulatorServer(one))) for one in orders]
        config = CONFIG.format(urls=[one.url for one in engines], workers=workers)
        gateway = stack.enter_context(ServeProcess(folder, config=config))
        gateway.wait_ready()
        yield gateway


def send_prompts(gateway: ServeProcess, *, questions: int = 4, stories: int = 3) -> None:
    """Short questions under the same rules, and long prompts of their own."""
    for number in range(questions):
        ask(gateway, SHOP, RULES, f"What does boat {number} cost?")
    for number in range(stories):
        ask(gateway, MODEL, f"Story {number}.", STORY * 250)


def ask(gateway: ServeProcess, model: str, system: str, user: str) -> None:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    body = {"model": model, "messages": messages, "max_tokens": 8, "stream": True}
    asked = urllib.request.Request(
        f"{gateway.url}/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(asked, timeout=30) as answer:
        answer.read()


def kv_page(gateway: ServeProcess) -> Any:
    """As the admin API has it now."""
    with urllib.request.urlopen(f"{gateway.admin_url}/admin/kv", timeout=10) as answer:
        return json.load(answer)
