"""Starts the mock engine and the gateways, and ends what it started."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

import validity
from environments import PeerUnavailable
from peers import PEERS, Place

HERE = Path(__file__).parent
START_S_MAX = 90.0
END_S_MAX = 10.0


class Gateway(Struct, frozen=True, kw_only=True):
    """Something that answers, and the process to watch."""

    name: str
    version: str
    port: int
    pid: int


@contextmanager
def upstream(folder: Path) -> Iterator[Gateway]:
    """The mock engine."""
    port = free_port()
    with _process([sys.executable, str(HERE / "upstream.py"), str(port)], folder / "upstream.log") as process:
        _wait_valid(process, port, folder / "upstream.log")
        yield Gateway(name="none", version="", port=port, pid=process.pid)


@contextmanager
def gateway(name: str, upstream_port: int, folder: Path, environments: Path) -> Iterator[Gateway]:
    """One gateway in front of the engine, its answers checked; raises PeerUnavailable."""
    own = folder / name
    own.mkdir()
    place = Place(
        port=free_port(),
        spare_port=free_port(),
        upstream_url=f"http://127.0.0.1:{upstream_port}",
        folder=own,
        environments=environments,
    )
    launch = PEERS[name](place)
    with _process(list(launch.command), own / "log", {**os.environ, **launch.environment}, own) as process:
        _wait_valid(process, place.port, own / "log")
        yield Gateway(name=name, version=launch.version, port=place.port, pid=process.pid)


def free_port() -> int:
    """A port nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _process(
    command: list[str], log: Path, environment: dict[str, str] | None = None, folder: Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment, cwd=folder
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(END_S_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_valid(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline_s = time.monotonic() + START_S_MAX
    while (problem := validity.problem(port)) is not None:
        if process.poll() is not None or time.monotonic() > deadline_s:
            what = (
                "ended before it answered" if process.poll() is not None else f"not answering after {START_S_MAX:.0f} s"
            )
            last_lines = " | ".join(log.read_text(errors="replace").strip().splitlines()[-3:])
            raise PeerUnavailable(what, f"{problem}; its log ends: {last_lines[-500:]}")
        time.sleep(0.2)
