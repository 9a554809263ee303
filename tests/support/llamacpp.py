"""llama.cpp with one file, and what it says of the next token."""

import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from heterodyne.registry.parity.llamacpp_process import running_llamacpp

ANSWER_S = 60.0


class LlamaCpp:
    """One that listens."""

    def __init__(self, url: str) -> None:
        self.url = url

    def ask(self, path: str, **members: Any) -> Any:
        body = json.dumps(members).encode()
        request = urllib.request.Request(self.url + path, body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=ANSWER_S) as answer:
            return json.load(answer)

    def next_token(self, tokens: list[int], most: int = 10) -> dict[int, float]:
        """The likeliest tokens after these, with their log-probabilities."""
        said = self.ask("/completion", prompt=tokens, n_predict=1, n_probs=most, temperature=0, cache_prompt=False)
        return {one["id"]: one["logprob"] for one in said["completion_probabilities"][0]["top_logprobs"]}

    def tokens(self, text: str) -> list[int]:
        return [int(token) for token in self.ask("/tokenize", content=text, add_special=False)["tokens"]]


@contextmanager
def llamacpp(path: Path) -> Iterator[LlamaCpp]:
    """Started with the file at `path`, and stopped at the end."""
    with running_llamacpp(path, context_tokens=256, threads=2) as url:
        yield LlamaCpp(url)
