"""The mixed fleet of `examples/` as a test starts it: on free ports, in a folder of its own."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

EXAMPLE = Path(__file__).parents[2] / "examples" / "mixed-fleet"
CONFIG = (EXAMPLE / "heterodyne.toml").read_text(encoding="utf-8")
EMULATORS = ("h100-0", "h200-0", "mi300x-0", "tpu-v5e-0")
START_S = 200.0  # how long it takes is the machine's affair
MESSAGES = [{"role": "user", "content": "Tell me a story."}]


class Example:
    """The running example, in a folder of its own."""

    def __init__(self, folder: Path, process: "subprocess.Popen[bytes]") -> None:
        self.folder = folder
        self.process = process

    @property
    def said(self) -> str:
        return (self.folder / "out").read_text(encoding="utf-8")

    @property
    def console_url(self) -> str:
        [event] = self.events("admin_listens")
        return str(event["url"])

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
def running(folder: Path, more_settings: str = "") -> Iterator[Example]:
    """The example on ports nobody uses, once it says that it is up."""
    config = folder / "heterodyne.toml"
    config.write_text(on_free_ports(CONFIG) + more_settings, encoding="utf-8")
    command = [sys.executable, str(EXAMPLE / "run.py"), "--config", str(config), "--folder", str(folder)]
    environment = {**os.environ, "HETERODYNE_GATEWAY__PORT": "0", "HETERODYNE_CONSOLE__PORT": "0"}
    environment["XDG_STATE_HOME"] = str(folder / "state")
    with (folder / "out").open("wb") as out:
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.STDOUT)
    example = Example(folder, process)
    try:
        wait_until(lambda: "Ctrl-C stops" in example.said or process.poll() is not None, START_S, "the start")
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
