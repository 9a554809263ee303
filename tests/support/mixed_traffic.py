"""Some requests of every kind, so that each view has something to show."""

import json
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

from tests.support.mixed_fleet import Example, wait_until

REQUESTS, UNKNOWN = 48, 3


def send_traffic(example: Example) -> None:
    """Returns when all of them are in the books."""
    before = booked(example)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: _ask(example.url, number), range(REQUESTS)))
    for _ in range(UNKNOWN):
        _post(example.url, {"model": "no-such-model", "messages": [{"role": "user", "content": "hi"}]})
    wait_until(lambda: booked(example) >= before + REQUESTS + UNKNOWN, 30, "every request in the books")


def booked(example: Example) -> int:
    """How many requests the console knows of."""
    with urllib.request.urlopen(f"{example.console_url}/admin/usage", timeout=10) as answer:
        return sum(row["requests"] for row in json.load(answer)["rows"])


def _ask(url: str, number: int) -> None:
    is_real = number % 12 == 0  # a model that computes, on a machine that may be busy: little is asked of it
    words = " ".join(["tell", "me", "more"] * (5 + (0 if is_real else 40 * (number % 5))))
    body = {
        "model": "smollm2-135m" if is_real else "chat",
        "messages": [{"role": "user", "content": f"{number % 7}: {words}"}],
        "max_tokens": 4 if is_real else 8 + 8 * (number % 4),
        "stream": number % 3 > 0,
    }
    _post(url, body)


def _post(url: str, body: dict[str, object]) -> None:
    request = urllib.request.Request(
        f"{url}/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            answer.read()
    except urllib.error.HTTPError as error:
        error.read()
