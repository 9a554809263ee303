"""The real engine child with the real default models: it serves, calls tools, embeds, and leaves when told."""

import http.client
import json
import os
import re
import subprocess
import sys
import time
import unicodedata
from collections.abc import Iterator
from contextlib import closing
from math import erf
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from safetensors.numpy import load_file

from heterodyne.fleet.chat_template import read_chat_template
from heterodyne.fleet.child_order import ChildOrder
from heterodyne.registry.defaults import DEFAULT_POOLS
from heterodyne.registry.settings import RegistrySettings
from heterodyne.registry.weights import obtain

ANSWER_S = 240  # for a hundred tokens on a busy machine
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Weather of a city",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "unit": {"enum": ["C", "F"]}},
                "required": ["city", "unit"],
            },
        },
    }
]
QUESTION = {"role": "user", "content": "What is the weather in Paris?"}
HISTORY = [
    QUESTION,
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "1", "content": "18 C"},
]
DEFAULT_SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"


class Child:
    """A running child and its one answer."""

    def __init__(self, order: ChildOrder | bytes) -> None:
        line = order if isinstance(order, bytes) else msgspec.json.encode(order)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "heterodyne.fleet.llamacpp_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        self.answer = json.loads(self.process.stdout.readline())

    def ask(self, path: str, body: dict[str, Any] | None = None) -> bytes:
        connection = http.client.HTTPConnection(self.answer["listening"].removeprefix("http://"), timeout=ANSWER_S)
        headers = {"content-type": "application/json"}
        with closing(connection):
            connection.request("GET" if body is None else "POST", path, json.dumps(body) if body else None, headers)
            return connection.getresponse().read()

    def leave(self) -> int:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(5)


def order(pool_name: str, **changes: Any) -> ChildOrder:
    pool = DEFAULT_POOLS[pool_name]
    assert pool.weights
    settings = RegistrySettings(cache_dir=os.environ.get("HETERODYNE_REGISTRY__CACHE_DIR"))
    words: dict[str, Any] = {
        "model_path": str(obtain(pool.weights, pool.weights_sha256, settings, lambda *_: None)),
        "alias": pool.model,
        "context_tokens": pool.context_tokens,
        "slots": pool.slots,
        "purpose": pool.purpose,
        "chat_template": read_chat_template(pool.chat_template),
    }
    return ChildOrder(**{**words, **changes})


@pytest.fixture(scope="module")
def chat() -> Iterator[Child]:
    child = Child(order("chat"))
    yield child
    assert child.leave() == 0


def prompt(chat: Child, messages: list[Any], **words: Any) -> str:
    return str(json.loads(chat.ask("/apply-template", {"messages": messages, **words}))["prompt"])


def test_it_serves_under_its_alias(chat: Child) -> None:
    assert json.loads(chat.ask("/health")) == {"status": "ok"}
    body = {"messages": [QUESTION], "max_tokens": 4, "temperature": 0}
    answer = json.loads(chat.ask("/v1/chat/completions", body))
    assert answer["model"] == "smollm2-135m"
    assert answer["usage"]["completion_tokens"] == 4
    assert b"llamacpp:requests_processing" in chat.ask("/metrics")
    assert [slot["n_ctx"] for slot in json.loads(chat.ask("/slots"))] == [2048] * 4


def test_without_tools_the_prompt_is_the_models_own(chat: Child) -> None:
    turn = "<|im_start|>{}\n{}<|im_end|>\n"
    system = {"role": "system", "content": "Be brief."}
    user = turn.format("user", QUESTION["content"])
    start = "<|im_start|>assistant\n"
    assert prompt(chat, [QUESTION]) == turn.format("system", DEFAULT_SYSTEM) + user + start
    assert prompt(chat, [system, QUESTION]) == turn.format("system", "Be brief.") + user + start


def test_tool_calls_and_results_in_the_history_are_rendered(chat: Child) -> None:
    text = prompt(chat, HISTORY, tools=TOOLS)
    assert '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>' in text
    assert "<tool_response>\n18 C\n</tool_response>" in text
    assert text.count(DEFAULT_SYSTEM) == 1


@pytest.mark.timeout(300)
def test_required_tools_are_called_with_arguments_that_fit(chat: Child) -> None:
    # Closing the door on free text takes an assistant turn that already opened the call.
    opened = {"role": "assistant", "content": "<tool_call>\n"}
    body = {
        "messages": [QUESTION, opened],
        "tools": TOOLS,
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "max_tokens": 120,
        "temperature": 0,  # a name of a city that is drawn by lot may not end within any number of tokens
    }
    choice = json.loads(chat.ask("/v1/chat/completions", body))["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    call = choice["message"]["tool_calls"][0]["function"]
    assert call["name"] == "get_weather"
    assert json.loads(call["arguments"]).keys() == {"city", "unit"}

    lines = chat.ask("/v1/chat/completions", {**body, "stream": True}).decode().split("\n\n")
    chunks = [json.loads(line[6:])["choices"][0] for line in lines if line.startswith("data: {")]
    deltas = [call for chunk in chunks for call in chunk["delta"].get("tool_calls", ())]
    assert deltas[0]["function"]["name"] == "get_weather"
    first = "".join(delta["function"].get("arguments", "") for delta in deltas if delta["index"] == 0)
    assert json.loads(first)["unit"] in {"C", "F"}
    assert chunks[-1]["finish_reason"] == "tool_calls"


def test_a_closed_stream_frees_its_slot(chat: Child) -> None:
    connection = http.client.HTTPConnection(chat.answer["listening"].removeprefix("http://"), timeout=30)
    body = {"messages": [QUESTION], "stream": True, "max_tokens": 1500, "ignore_eos": True}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"content-type": "application/json"})
    response = connection.getresponse()
    response.readline()
    response.close()
    connection.close()
    limit_s = time.monotonic() + 10
    while any(slot["is_processing"] for slot in json.loads(chat.ask("/slots"))):
        assert time.monotonic() < limit_s
        time.sleep(0.05)


def test_an_address_in_use_is_said_in_one_line(chat: Child) -> None:
    port = int(chat.answer["listening"].rpartition(":")[2])
    second = Child(order("chat", port=port))
    assert second.answer == {"error": f"127.0.0.1:{port}: Address already in use"}
    assert second.leave() == 1


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b"{}", "unreadable order"),
        (b'{"model_path": "/nope", "alias": "x"}', "no weights at /nope"),
        (f'{{"model_path": "{__file__}", "alias": "x"}}'.encode(), "is not a GGUF file"),
    ],
)
def test_a_bad_order_is_answered_with_its_reason(line: bytes, error: str) -> None:
    child = Child(line)
    assert error in child.answer["error"]
    assert child.leave() == 1


def test_embeddings_equal_the_models_own_arithmetic() -> None:
    child = Child(order("embeddings"))
    texts = ["The cat sits on the mat.", "A kitten rests on a rug.", "Quarterly revenue grew, naïvely, by 12%!"]
    answer = json.loads(child.ask("/v1/embeddings", {"input": texts}))
    got = np.array([one["embedding"] for one in answer["data"]])
    reference = Bert(Path(order("embeddings").model_path).parent / "model")
    assert all(reference.embed(text) @ vector > 0.999 for text, vector in zip(texts, got, strict=True))
    assert got[0] @ got[1] > got[0] @ got[2] + 0.3
    child.process.terminate()
    assert child.leave() == -15


class Bert:
    """MiniLM in numpy: WordPiece, six layers, mean pooling."""

    def __init__(self, folder: Path) -> None:
        self.weights = load_file(folder / "model.safetensors")
        tokens = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
        self.ids = {token: index for index, token in enumerate(tokens)}

    def embed(self, text: str) -> np.ndarray:
        ids, get = self.tokens(text), lambda name: self.weights[f"embeddings.{name}_embeddings.weight"]
        x = self.norm(get("word")[ids] + get("position")[: len(ids)] + get("token_type")[0], "embeddings")
        gelu = np.vectorize(lambda v: 0.5 * v * (1 + erf(v / 2**0.5)))
        for layer in (f"encoder.layer.{index}." for index in range(6)):
            query, key, value = (
                self.dense(x, f"{layer}attention.self.{name}").reshape(len(ids), 12, 32).swapaxes(0, 1)
                for name in ("query", "key", "value")
            )
            scores = np.exp(query @ key.swapaxes(1, 2) / 32**0.5)
            seen = (scores / scores.sum(-1, keepdims=True) @ value).swapaxes(0, 1).reshape(len(ids), 384)
            x = self.norm(x + self.dense(seen, layer + "attention.output.dense"), layer + "attention.output")
            hidden = gelu(self.dense(x, layer + "intermediate.dense"))
            x = self.norm(x + self.dense(hidden, layer + "output.dense"), layer + "output")
        mean = x.mean(0)
        return mean / np.linalg.norm(mean)

    def dense(self, x: np.ndarray, name: str) -> np.ndarray:
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, x: np.ndarray, name: str) -> np.ndarray:
        x = x - x.mean(-1, keepdims=True)
        scale, shift = (self.weights[f"{name}.LayerNorm.{part}"] for part in ("weight", "bias"))
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-12) * scale + shift

    def tokens(self, text: str) -> list[int]:
        plain = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
        found = [101]
        for word in re.findall(r"\w+|[^\w\s]", plain):
            start = 0
            while start < len(word):
                pieces = (("##" if start else "") + word[start:end] for end in range(len(word), start, -1))
                piece = next(piece for piece in pieces if piece in self.ids)
                found.append(self.ids[piece])
                start += len(piece.removeprefix("##"))
        return [*found, 102]
