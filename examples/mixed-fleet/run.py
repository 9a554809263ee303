"""Starts the emulated fleet of heterodyne.toml and the gateway before it, watches, and ends all of them in order.

Nothing is restarted: what is killed stays dead until the example is started again. Each process has a log and a file
with its pid in the folder `run`.
"""

import argparse
import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

HERE = Path(__file__).resolve().parent
POLL_S = 0.1
START_TIMEOUT_S = 60.0
WEIGHTS_TIMEOUT_S = 600.0  # the first start fetches 98 MB
STOP_TIMEOUT_S = 10.0  # longer than the gateway drains
LOG_CHARS_SHOWN = 2000
EMULATOR_SAYS = "\nhttp://"  # and then its address
GATEWAY_SAYS = "is ready on http://"


def main() -> int:
    """Run until Ctrl-C, SIGTERM, or the gateway's end; the exit code is for the shell."""
    parser = argparse.ArgumentParser(description="A mixed fleet on this machine; see docs/guides/mixed-fleet.md.")
    parser.add_argument("--config", type=Path, default=HERE / "heterodyne.toml", help="Settings with the fleet.")
    parser.add_argument("--folder", type=Path, default=HERE / "run", help="Where logs, pids and records go.")
    parser.add_argument("--speed", type=float, default=1.0, help="Run the emulators so many times faster.")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    fleet = Fleet(given.folder.resolve())
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, fleet.on_leave)
    with (given.folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say(f"The example already runs in {given.folder}; --folder names another one.")
            return 1
        try:
            fleet.start(given.config.resolve(), given.speed)
            fleet.watch()
        except Gone as gone:
            _say(str(gone))
        finally:
            fleet.end()
    return 0 if fleet.leaves else 1


class Gone(Exception):
    """A process that the example cannot do without has ended, or did not start."""


class Child:
    """One `heterodyne` process that does not outlive this one, however this one ends."""

    def __init__(self, name: str, what: str, folder: Path, *words: str) -> None:
        self.name = name
        self.what = what
        self.log = folder / f"{name}.log"
        self.is_told = False  # that it has ended
        self._pid_file = folder / f"{name}.pid"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(  # noqa: S603  # our own words
                [sys.executable, str(HERE / "leashed.py"), *words],
                cwd=folder,
                stdin=subprocess.PIPE,  # ends with us
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a Ctrl-C at the terminal is for us alone
            )
        self._pid_file.write_text(f"{self.process.pid}\n", encoding="ascii")

    @property
    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def output(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def try_url(self, before: str) -> str | None:
        """The address it has written behind these words."""
        _, found, rest = self.output().partition(before)
        line, newline, _ = rest.partition("\n")
        return f"http://{line.strip()}" if found and newline else None

    def how_it_ended(self) -> str:
        code = self.process.returncode
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"

    def end(self, is_hurried: Callable[[], bool]) -> None:
        """Ask, wait, insist."""
        until_s = time.monotonic() + STOP_TIMEOUT_S
        self.process.terminate()
        while not self.has_ended and time.monotonic() < until_s and not is_hurried():
            time.sleep(POLL_S)
        self.process.kill()
        self.process.wait()
        self.forget()

    def forget(self) -> None:
        self.is_told = True
        self._pid_file.unlink(missing_ok=True)


class Fleet:
    """The emulators and the gateway."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._emulators: list[Child] = []
        self._gateway: Child | None = None
        self.leaves = 0  # how often a signal asked us to leave

    def on_leave(self, _: int, __: FrameType | None) -> None:
        self.leaves += 1

    def start(self, config: Path, speed: float) -> None:
        """Emulators first, so that the gateway finds all of them; returns early when a signal asks us to leave."""
        for name, pool in tomllib.loads(config.read_text(encoding="utf-8"))["pools"].items():
            for index, url in enumerate(pool.get("urls", ())):
                what = f"{pool.get('tp', 1)} x {pool['hardware']} under {pool['engine']}, emulated"
                words = emulator_words(pool, url, speed)
                self._emulators.append(Child(f"{name}-{index}", what, self._folder, *words))
        for one in self._emulators:
            self._wait(one, lambda child: child.try_url(EMULATOR_SAYS) is not None, START_TIMEOUT_S)
        gateway = Child("gateway", "heterodyne serve, and llama.cpp", self._folder, "--config", str(config), "serve")
        self._gateway = gateway
        self._wait(gateway, lambda child: _is_ready(child.try_url(GATEWAY_SAYS)), WEIGHTS_TIMEOUT_S)
        if not self.leaves:
            self._tell(gateway)

    def watch(self) -> None:
        """Report children that end; return when a signal asks us to leave."""
        while not self.leaves:
            for one in self._emulators:
                if one.has_ended and not one.is_told:
                    _say(f"{one.name} (pid {one.process.pid}) has ended: {one.how_it_ended()}")
                    one.forget()
            if self._gateway is not None and self._gateway.has_ended:
                raise Gone(f"the gateway has ended: {self._gateway.how_it_ended()}; its log is {self._gateway.log}")
            time.sleep(POLL_S)

    def end(self) -> None:
        """The gateway first: its streams finish while engines still write them."""
        _say("Stopping; a second Ctrl-C stops at once.")
        for one in (self._gateway, *self._emulators):
            if one is not None:
                one.end(is_hurried=lambda: self.leaves > 1)

    def _wait(self, child: Child, is_up: Callable[[Child], bool], within_s: float) -> None:
        until_s = time.monotonic() + within_s
        while not self.leaves and not is_up(child):
            if child.has_ended or time.monotonic() > until_s:
                how = child.how_it_ended() if child.has_ended else f"not ready within {within_s:g} s"
                raise Gone(f"{child.name} does not start: {how}\n{child.output()[-LOG_CHARS_SHOWN:]}")
            time.sleep(POLL_S)

    def _tell(self, gateway: Child) -> None:
        rows = [(one.name, str(one.process.pid), str(one.try_url(EMULATOR_SAYS)), one.what) for one in self._emulators]
        rows.append((gateway.name, str(gateway.process.pid), str(gateway.try_url(GATEWAY_SAYS)), gateway.what))
        _say("\n".join(_columns([("PROCESS", "PID", "URL", "WHAT"), *rows])))
        _say(f"Logs, pids and records are in {os.path.relpath(self._folder)}; Ctrl-C stops all of it.")


def emulator_words(pool: dict[str, Any], url: str, speed: float) -> list[str]:
    """The words after `heterodyne` that emulate one replica of a pool."""
    return [
        "emulate",
        *("--hardware", pool["hardware"], "--tp", str(pool.get("tp", 1)), "--engine", pool["engine"]),
        *("--model", pool["model"], "--port", url.rpartition(":")[2], "--speed", str(speed)),
    ]


def _is_ready(url: str | None) -> bool:
    """Whether every model can be asked."""
    if url is None:
        return False
    with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/health/ready", timeout=5) as answer:  # noqa: S310
        return all(state == "ready" for state in json.load(answer)["models"].values())
    return False


def _columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
