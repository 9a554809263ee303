"""`heterodyne serve` as a child process, for tests of the whole product.

with ServeProcess(tmp_path, "--workers", "2") as serve:
    serve.wait_ready()
    ...  # serve.url answers; serve.pid_of("worker-0") is one of its children
"""

import contextlib
import os
import re
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import defaultdict
from pathlib import Path
from typing import Any, Self

import msgspec

POLL_S = 0.05
LOG_CHARS_SHOWN = 4000
HELD = re.compile(r'^heterodyne_gateway_held\{.*what="(\w+)".*\} (\S+)$', re.MULTILINE)
BUSY = {"requests", "exchanges", "waiting"}
LISTENING = "0A"  # as /proc/net/tcp writes it


class ServeProcess:
    """Started on entry, on a port of the system's choosing; killed on exit unless it was stopped before."""

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        config: str = "",
        environment: dict[str, str] | None = None,
        launcher: tuple[str, ...] = (),
    ):
        """`launcher` is a command that ends by running what follows it in its own process, such as `unshare -m`."""
        self._log = folder / "serve.log"
        self._banner = folder / "serve.out"
        config_file = folder / "heterodyne.toml"
        config_file.write_text(config, encoding="utf-8")
        self._command = [
            *launcher,
            *(sys.executable, "-m", "heterodyne", "--config", str(config_file), "serve", "--port", "0"),
            *arguments,
        ]
        quiet = {"HETERODYNE_TELEMETRY__LOG_FORMAT": "json", "HETERODYNE_TELEMETRY__RECORDS": "off"}
        # Several may run on one machine.
        apart = {"HETERODYNE_CONSOLE__PORT": "0", "XDG_STATE_HOME": str(folder / "state")}
        self._environment = {**os.environ, **quiet, **apart, **(environment or {})}
        self.config_file = config_file
        self._process: subprocess.Popen[bytes] | None = None
        self.tls: ssl.SSLContext | None = None  # for asking a gateway that serves HTTPS

    def __enter__(self) -> Self:
        with self._log.open("wb") as log, self._banner.open("wb") as banner:
            self._process = subprocess.Popen(  # noqa: S603  # our own module with the test's arguments
                self._command, env=self._environment, stdin=subprocess.DEVNULL, stdout=banner, stderr=log
            )
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        try:
            if failure is None:
                self.check_holdings()
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()

    @property
    def process(self) -> "subprocess.Popen[bytes]":
        assert self._process is not None, "used before it was started"
        return self._process

    @property
    def log(self) -> str:
        """Everything on standard error so far."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    @property
    def url(self) -> str:
        """Where it listens; empty before it does."""
        _, _, rest = self._banner.read_text(encoding="utf-8").partition("is ready on ")
        return rest.partition("\n")[0].strip()

    @property
    def admin_url(self) -> str:
        """Where the admin API listens."""
        return str(next(one["url"] for one in self.events() if one["event"] == "admin_listens"))

    def events(self) -> list[dict[str, Any]]:
        """What it has logged so far."""
        # A reader that comes while the last line is being written leaves that one for later.
        return [msgspec.json.decode(line) for line in self.log.splitlines() if line[:1] == "{" and line[-1:] == "}"]

    def wait_ready(self, within_s: float = 120.0, *, replicas: int = 1) -> None:
        """Return when every model can be asked, of whichever worker; raise with the log when that takes too long.

        A model is ready with its first replica: whoever counts on more says how many there are.
        """
        until_s = time.monotonic() + within_s
        while not (self._is_ready() and self._has_every_opinion(replicas)):
            if self.process.poll() is not None:
                raise AssertionError(f"serve ended with {self.process.returncode}:\n{self.log[-LOG_CHARS_SHOWN:]}")
            if time.monotonic() > until_s:
                raise AssertionError(f"not ready within {within_s:g} s:\n{self.log[-LOG_CHARS_SHOWN:]}")
            time.sleep(POLL_S)

    def pid_of(self, name: str) -> int:
        """The process that now goes by this name, such as `worker-0` or `engine chat-0`."""
        pids = [one["pid"] for one in self.events() if one["event"] == "process_started" and one["process"] == name]
        assert pids, f"no {name} has started:\n{self.log[-LOG_CHARS_SHOWN:]}"
        return int(pids[-1])

    def port_of(self, name: str) -> int:
        """The port on which that process listens."""
        links = [link.readlink() for link in Path(f"/proc/{self.pid_of(name)}/fd").iterdir()]
        held = {str(link) for link in links}
        for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENING and f"socket:[{fields[9]}]" in held:
                return int(fields[1].partition(":")[2], 16)
        raise AssertionError(f"{name} does not listen")

    def children(self) -> set[int]:
        """Processes whose parent is the supervisor."""
        return {pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _parent(pid) == self.process.pid}

    def stop(self, how: signal.Signals = signal.SIGTERM, within_s: float = 30.0) -> int:
        """Send the signal; the exit code."""
        self.process.send_signal(how)
        return self.wait(within_s)

    def wait(self, within_s: float = 30.0) -> int:
        """The exit code of a process that ends by itself."""
        try:
            return self.process.wait(within_s)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"still runs after {within_s:g} s:\n{self.log[-LOG_CHARS_SHOWN:]}") from error

    def check_holdings(self, within_s: float = 10.0) -> None:
        """Raise where workers hold something for requests although none is there: soon after the last, all is zero."""
        until_s = time.monotonic() + within_s
        while left := self._try_holdings():
            if left.keys() & BUSY:
                return  # a request is being answered, and may hold what it needs
            assert time.monotonic() < until_s, f"held for nobody: {left}"
            time.sleep(POLL_S)
        leaks = [one for one in self.events() if one["event"] == "held_for_nobody"]
        assert not leaks, leaks

    def _try_holdings(self) -> dict[str, float]:
        """What the gauges of all workers say that is not zero; nothing where no worker answers, or only to a key."""
        if not self.url or self.process.poll() is not None:
            return {}
        try:
            with urllib.request.urlopen(f"{self.url}/metrics", timeout=5, context=self.tls) as answer:  # noqa: S310  # our own address
                page = answer.read().decode()
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return {}
        held: defaultdict[str, float] = defaultdict(float)
        for what, value in HELD.findall(page):
            held[what] += float(value)
        assert held, "the metrics page does not say what is held"
        return {what: value for what, value in held.items() if value}

    def _has_every_opinion(self, replicas_min: int) -> bool:
        """Whether each worker has logged the health of each replica; only one of them is asked for its health."""
        events = self.events()
        logged = {(one["worker"], one["replica"]) for one in events if one["event"] == "replica_health"}
        workers = {str(one["process"]) for one in events if one["event"] == "process_started"}
        replicas = {replica for _, replica in logged}
        return len(replicas) >= replicas_min and all(
            (name, one) in logged for name in workers if name.startswith("worker-") for one in replicas
        )

    def _is_ready(self) -> bool:
        if not self.url:
            return False
        try:
            with urllib.request.urlopen(f"{self.url}/health/ready", timeout=5, context=self.tls) as answer:  # noqa: S310  # our own address
                readiness: dict[str, Any] = msgspec.json.decode(answer.read())
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False
        return all(state == "ready" for state in readiness["models"].values())


def is_alive(pid: int) -> bool:
    """Whether the process exists and has not ended."""
    with contextlib.suppress(OSError):
        return _stat(pid)[0] != "Z"
    return False


def _parent(pid: int) -> int | None:
    with contextlib.suppress(OSError):
        return int(_stat(pid)[1])
    return None


def _stat(pid: int) -> list[str]:
    """State, parent and the rest of /proc/PID/stat, past the name, which may have spaces."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
