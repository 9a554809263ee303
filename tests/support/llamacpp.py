"""llama.cpp with one file, in its own process, and what it says of the next token."""

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from heterodyne.fleet.child_order import ChildOrder

READY_S = 60.0


class LlamaCpp:
    """One that listens."""

    def __init__(self, url: str) -> None:
        self.url = url

    def ask(self, path: str, **members: Any) -> Any:
        body = json.dumps(members).encode()
        request = urllib.request.Request(self.url + path, body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=READY_S) as answer:
            return json.load(answer)

    def next_token(self, tokens: list[int], most: int = 10) -> dict[int, float]:
        """The likeliest tokens after these, with their log-probabilities."""
        said = self.ask("/completion", prompt=tokens, n_predict=1, n_probs=most, temperature=0, cache_prompt=False)
        return {one["id"]: one["logprob"] for one in said["completion_probabilities"][0]["top_logprobs"]}

    def tokens(self, text: str) -> list[int]:
        return [int(token) for token in self.ask("/tokenize", content=text, add_special=False)["tokens"]]


@contextmanager
def llamacpp(path: Path, **order: Any) -> Iterator[LlamaCpp]:
    """Started with the file at `path`, and stopped at the end."""
    usual = {"context_tokens": 256, "slots": 1, "threads": 2} | order
    child = subprocess.Popen(
        [sys.executable, "-m", "heterodyne.fleet.llamacpp_child"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        child.stdin.write(msgspec.json.encode(ChildOrder(model_path=str(path), alias="m", **usual)) + b"\n")
        child.stdin.flush()
        said = json.loads(child.stdout.readline())
        assert "listening" in said, said
        yield _ready(LlamaCpp(said["listening"]))
    finally:
        child.stdin.close()
        child.kill()
        child.wait()
        child.stdout.close()


def _ready(engine: LlamaCpp) -> LlamaCpp:
    until_s = time.monotonic() + READY_S
    while True:
        try:
            with urllib.request.urlopen(engine.url + "/health", timeout=READY_S):
                return engine
        except urllib.error.HTTPError:
            assert time.monotonic() < until_s, "it does not get ready"
            time.sleep(0.05)
