"""Two gateway processes over two emulated replicas: a conversation finds its replica through either of them."""

import json
import time
import urllib.request
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from heterodyne.emulator.server import EmulatorServer
from heterodyne.testing.serve_process import ServeProcess
from tests.support.emulators import order
from tests.support.surfaces import MODEL, Scrape
from tests.support.threads import in_thread

# A worker that is told nothing would guess right for half of the turns it has not seen, and sees half of them.
CONVERSATIONS = 24
CONFIG = """
[pools.emulated]
model = "{model}"
engine = "vllm"
urls = {urls}
"""


def turn(url: str, *messages: str) -> tuple[str, int]:
    """On a connection of its own, so that either worker may get it: who answered, and how much of it was cached."""
    body = {
        "model": MODEL,
        "messages": [{"role": "user", "content": one} for one in messages],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 8,
    }
    request = urllib.request.Request(
        f"{url}/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        replica = answer.headers["x-heterodyne-replica"]
        events = [json.loads(line[6:]) for line in answer.read().splitlines() if line.startswith(b"data: {")]
    return replica, (events[-1]["usage"].get("prompt_tokens_details") or {}).get("cached_tokens", 0)


def test_the_second_turn_goes_where_the_first_was_computed_through_any_worker(tmp_path: Path) -> None:
    with ExitStack() as stack:
        # Slow enough that computing a prompt again would be felt.
        servers = [stack.enter_context(in_thread(EmulatorServer(order(speed=1.0)))) for _ in range(2)]
        config = CONFIG.format(model=MODEL, urls=[server.url for server in servers])
        serve = stack.enter_context(ServeProcess(tmp_path, "--workers", "2", config=config))
        serve.wait_ready()
        stories = [f"{number} " + f"story {number} " * 600 for number in range(CONVERSATIONS)]
        homes = [turn(serve.url, story)[0] for story in stories]
        time.sleep(0.3)  # several intervals: everybody has been told
        seconds = [turn(serve.url, story, "and then?") for story in stories]
        with urllib.request.urlopen(f"{serve.url}/metrics", timeout=10) as page:
            scrape = Scrape(page.read())
    assert len(Counter(homes)) == 2, "both replicas had work, or there was nothing to find"
    # On a busy machine a replica may look so slow for a moment that computing again elsewhere is quicker.
    at_home = [cached for (replica, cached), home in zip(seconds, homes, strict=True) if replica == home]
    assert len(at_home) >= 0.9 * CONVERSATIONS
    assert all(cached > 1000 for cached in at_home)
    assert scrape.value("heterodyne_routing_hearsay_heard_total") > 2
    assert scrape.value("heterodyne_routing_hearsay_sent_total") > 2
