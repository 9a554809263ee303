"""llama.cpp with one embedding model, in its own process."""

import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from heterodyne.registry.parity.llamacpp_process import running_llamacpp

ANSWER_S = 60.0


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
        with urllib.request.urlopen(request, timeout=ANSWER_S) as answer:
            return json.load(answer)


@contextmanager
def embedding_llamacpp(path: Path, context_tokens: int) -> Iterator[EmbeddingLlamaCpp]:
    """Started with the file at `path`, and stopped at the end."""
    with running_llamacpp(path, purpose="embed", context_tokens=context_tokens, threads=2) as url:
        yield EmbeddingLlamaCpp(url)
