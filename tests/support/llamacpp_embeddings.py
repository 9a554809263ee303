"""llama.cpp with one embedding model, in its own process."""

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
import numpy as np

from heterodyne.fleet.child_order import ChildOrder

READY_S = 60.0


class EmbeddingLlamaCpp:
    """One that listens."""

    def __init__(self, url: str) -> None:
        self._url = url

    def tokens(self, text: str) -> list[int]:
        """With those that every text begins and ends with."""
        return [int(token) for token in self._ask("/tokenize", content=text, add_special=True)["tokens"]]

    def embedding(self, text: str) -> np.ndarray:
        return np.array(self._ask("/v1/embeddings", input=text)["data"][0]["embedding"], np.float32)

    def _ask(self, path: str, **members: Any) -> Any:
        body = json.dumps(members).encode()
        request = urllib.request.Request(self._url + path, body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=READY_S) as answer:
            return json.load(answer)


@contextmanager
def embedding_llamacpp(path: Path, context_tokens: int) -> Iterator[EmbeddingLlamaCpp]:
    """Started with the file at `path`, and stopped at the end."""
    order = ChildOrder(
        model_path=str(path), alias="m", purpose="embed", context_tokens=context_tokens, slots=1, threads=2
    )
    child = subprocess.Popen(
        [sys.executable, "-m", "heterodyne.fleet.llamacpp_child"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with child:
        try:
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdin.write(msgspec.json.encode(order) + b"\n")
            child.stdin.flush()
            said = json.loads(child.stdout.readline())
            assert "listening" in said, said
            _wait_ready(said["listening"])
            yield EmbeddingLlamaCpp(said["listening"])
        finally:
            child.kill()


def _wait_ready(url: str) -> None:
    until_s = time.monotonic() + READY_S
    while True:
        try:
            urllib.request.urlopen(url + "/health", timeout=READY_S).close()
            return
        except urllib.error.HTTPError as error:
            error.close()  # it loads
            assert time.monotonic() < until_s, "it does not get ready"
            time.sleep(0.05)
