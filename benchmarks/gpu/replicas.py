"""Engines as child processes: all started together, ready before the block begins, ended with it."""

import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from benchmarks.gpu.engines import Engine, Start
from heterodyne.engines.catalogue import ENGINES

READY_S_MAX, END_S_MAX, ASK_S_MAX = 300.0, 15.0, 2.0
LOG_CHARS_SHOWN = 3000


class Replica(Struct, frozen=True, kw_only=True):
    """One that answers."""

    name: str
    engine: Engine
    folder: Path  # of its weights, which is also its model's name
    port: int
    ready_s: float  # from its start

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


class Wanted(Struct, frozen=True, kw_only=True):
    """One to be started."""

    name: str
    engine: Engine
    folder: Path
    memory_share: float


@contextmanager
def running(wanted: Sequence[Wanted], logs: Path, *, device: str) -> Iterator[tuple[Replica, ...]]:
    """All of them."""
    children: list[tuple[Wanted, int, subprocess.Popen[bytes]]] = []
    began_s = time.monotonic()
    try:
        for one in wanted:
            port = _free_port()
            start = Start(folder=one.folder, port=port, memory_share=one.memory_share, device=device)
            with (logs / f"{one.name}.log").open("wb") as log:
                child = subprocess.Popen(
                    one.engine.command(start),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,  # engines have children of their own
                    env={**os.environ, **one.engine.environment(start)},
                )
            children.append((one, port, child))
        yield tuple(
            Replica(
                name=one.name,
                engine=one.engine,
                folder=one.folder,
                port=port,
                ready_s=_wait_ready(one, port, child, logs) - began_s,
            )
            for one, port, child in children
        )
    finally:
        for _, _, child in children:
            _end(child)


def _wait_ready(one: Wanted, port: int, child: "subprocess.Popen[bytes]", logs: Path) -> float:
    dialect = ENGINES[one.engine.dialect]
    until_s = time.monotonic() + READY_S_MAX
    while True:
        with suppress(OSError, urllib.error.URLError):
            address = f"http://127.0.0.1:{port}{dialect.health_path}"
            with urllib.request.urlopen(address, timeout=ASK_S_MAX) as answer:
                if dialect.is_ready(answer.status, answer.read()):
                    return time.monotonic()
        if child.poll() is not None or time.monotonic() > until_s:
            said = (logs / f"{one.name}.log").read_text(errors="replace")[-LOG_CHARS_SHOWN:]
            raise SystemExit(f"{one.engine.name} does not start on {one.folder.name}:\n{said}")
        time.sleep(0.2)


def _end(child: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGTERM)
        try:
            child.wait(END_S_MAX)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait(END_S_MAX)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
