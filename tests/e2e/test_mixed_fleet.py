"""The mixed fleet of `examples/`, started for real: replicas are killed while a client streams, then all of them."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import msgspec

from heterodyne.fleet.settings import PoolSettings
from heterodyne.registry.defaults import DEFAULT_POOLS
from heterodyne.testing.serve_process import is_alive

EXAMPLE = Path(__file__).parents[2] / "examples" / "mixed-fleet"
CONFIG = (EXAMPLE / "heterodyne.toml").read_text(encoding="utf-8")
EMULATORS = ("h100-0", "h200-0", "mi300x-0", "tpu-v5e-0")
MESSAGES = [{"role": "user", "content": "Tell me a story."}]
TOKENS = 500
TOKENS_BEFORE_A_KILL = 40


class Example:
    """The running example, in a folder of its own."""

    def __init__(self, folder: Path, process: "subprocess.Popen[bytes]") -> None:
        self.folder = folder
        self.process = process

    @property
    def said(self) -> str:
        return (self.folder / "out").read_text(encoding="utf-8")

    @property
    def url(self) -> str:
        [line] = [line for line in self.said.splitlines() if line.startswith("gateway ")]
        return line.split()[2]

    def pid(self, name: str) -> int:
        return int((self.folder / f"{name}.pid").read_text(encoding="ascii"))

    def kill(self, name: str) -> None:
        os.kill(self.pid(name), signal.SIGKILL)

    def events(self, event: str) -> list[dict[str, Any]]:
        """What the gateway has logged of this kind."""
        lines = (self.folder / "gateway.log").read_text(encoding="utf-8").splitlines()
        # The last line may be only half written.
        events = [json.loads(line) for line in lines if line[:1] == "{" and line[-1:] == "}"]
        return [one for one in events if one["event"] == event]

    def records(self) -> list[dict[str, Any]]:
        file = self.folder / "records.jsonl"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        return [json.loads(line) for line in lines]

    def ask(self, **fields: object) -> HTTPResponse:
        return post(f"{self.url}/v1/chat/completions", {"model": "chat", "messages": MESSAGES, **fields})

    def descendants(self) -> set[int]:
        """Every process that it has started, and that those have."""
        pairs = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
        parent = {int(pid): int(above) for pid, above in map(str.split, pairs.splitlines())}
        found: set[int] = set()
        while more := {pid for pid, above in parent.items() if above in found | {self.process.pid}} - found:
            found |= more
        return found


def post(url: str, body: dict[str, object]) -> HTTPResponse:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    answer = urllib.request.urlopen(request, timeout=30)
    assert isinstance(answer, HTTPResponse)
    return answer


@contextmanager
def running(folder: Path) -> Iterator[Example]:
    """The example on ports nobody uses, once it says that it is up."""
    config = folder / "heterodyne.toml"
    config.write_text(on_free_ports(CONFIG), encoding="utf-8")
    command = [sys.executable, str(EXAMPLE / "run.py"), "--config", str(config), "--folder", str(folder)]
    environment = {**os.environ, "HETERODYNE_GATEWAY__PORT": "0", "HETERODYNE_CONSOLE__PORT": "0"}
    with (folder / "out").open("wb") as out:
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.STDOUT)
    example = Example(folder, process)
    try:
        wait_until(lambda: "Ctrl-C stops" in example.said or process.poll() is not None, 60, "the start")
        assert process.poll() is None, example.said
        yield example
    finally:
        process.kill()  # its children follow by themselves
        process.wait()


def on_free_ports(config: str) -> str:
    with ExitStack() as held:
        sockets = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in EMULATORS]
        for number, one in enumerate(sockets, start=9001):
            config = config.replace(f"127.0.0.1:{number}", f"127.0.0.1:{one.getsockname()[1]}")
    return config


def wait_until(is_so: Callable[[], object], within_s: float, what: str) -> None:
    until_s = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < until_s, f"{what} not within {within_s:g} s"
        time.sleep(0.02)


def words_of(line: bytes) -> str:
    """What one line of an event stream says."""
    if not line.startswith(b"data: {"):
        return ""
    event = json.loads(line.removeprefix(b"data: "))
    assert "error" not in event, event
    return "".join(choice["delta"].get("content") or "" for choice in event["choices"])


def whole_answer(folder: Path, name: str) -> str:
    """What an emulator answers when nothing goes wrong, asked directly and in a hurry."""
    pools = tomllib.loads((folder / "heterodyne.toml").read_text(encoding="utf-8"))["pools"]
    [url] = pools[name.removesuffix("-0")]["urls"]
    post(f"{url}/emulator/faults", {"slowdown": 0.05}).close()
    asked = {"model": "llama-3.1-8b", "messages": MESSAGES, "max_tokens": TOKENS, "ignore_eos": True}
    with post(f"{url}/v1/chat/completions", asked) as answer:
        return str(json.load(answer)["choices"][0]["message"]["content"])


def test_replicas_are_killed_while_a_client_streams_and_then_all_of_them(tmp_path: Path) -> None:
    with running(tmp_path) as example:
        with example.ask(stream=True, max_tokens=TOKENS, ignore_eos=True) as stream:
            first = stream.headers["x-heterodyne-replica"]
            assert stream.headers["x-heterodyne-pool"] in first
            text = "".join(words_of(stream.readline()) for _ in range(2 * TOKENS_BEFORE_A_KILL))
            example.kill(first)
            wait_until(lambda: example.events("stream_continued"), 5, "a continuation")
            [second] = [one["replica"] for one in example.events("stream_continued")]
            example.kill(second)
            rest = stream.readlines()
        assert first != second
        assert rest[-2] == b"data: [DONE]\n"
        text += "".join(map(words_of, rest))

        left = [name for name in EMULATORS if name not in (first, second)]
        assert text == whole_answer(tmp_path, left[0]), "every word, once"
        wait_until(example.records, 5, "a record")
        [record] = example.records()
        assert (record["status"], record["continuations"], record["completion_tokens"]) == (200, 2, TOKENS)
        assert record["replica"] in left

        for name in left:
            example.kill(name)
        with example.ask(max_tokens=4) as answer:
            assert answer.headers["x-heterodyne-replica"] == "cpu-0"
            assert json.load(answer)["model"] == "smollm2-135m"
        wait_until(lambda: example.said.count("has ended: SIGKILL") == len(EMULATORS), 5, "word of the deaths")
        assert not [name for name in EMULATORS if (tmp_path / f"{name}.pid").exists()]


def test_ctrl_c_leaves_no_process(tmp_path: Path) -> None:
    with running(tmp_path) as example:
        processes = example.descendants()
        assert len(processes) == 7, "four emulators, the gateway, its worker and llama.cpp"
        example.process.send_signal(signal.SIGINT)
        assert example.process.wait(20) == 0
        assert not [pid for pid in processes if is_alive(pid)]


def test_no_process_outlives_a_killed_example(tmp_path: Path) -> None:
    with running(tmp_path) as example:
        processes = example.descendants()
        example.process.kill()
        wait_until(lambda: not [pid for pid in processes if is_alive(pid)], 10, "everybody's end")


def test_the_small_model_is_the_one_served_by_default() -> None:
    given = msgspec.convert(tomllib.loads(CONFIG)["pools"]["cpu"], PoolSettings)
    assert msgspec.structs.replace(given, region=None, labels={}) == DEFAULT_POOLS["chat"]
