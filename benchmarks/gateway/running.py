"""Starts the mock engine and the gateways, and ends what it started."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct

from benchmarks.gateway import validity
from benchmarks.gateway.environments import PeerUnavailable
from benchmarks.gateway.peers import PEERS, Launch, Place

ROOT = Path(__file__).resolve().parents[2]
START_S_MAX = 90.0
WRAPPED_START_S_MAX = 300.0  # under valgrind
END_S_MAX = 10.0


class Gateway(Struct, frozen=True, kw_only=True):
    """Something that answers, and the process to watch."""

    name: str
    version: str
    port: int
    pid: int
    replicas: int = 1  # that it has behind it


@contextmanager
def upstream(folder: Path, replicas: int = 1) -> Iterator[tuple[Gateway, ...]]:
    """The mock engine, once for each of its ports; one process is all of them."""
    ports, log = free_ports(replicas), folder / f"upstream-{replicas}.log"
    with process([sys.executable, "-m", "benchmarks.gateway.upstream", *map(str, ports)], log, folder=ROOT) as engine:
        for port in ports:
            wait_valid(engine, port, log)
        yield tuple(Gateway(name="none", version="", port=port, pid=engine.pid) for port in ports)


Wrapper = Callable[[Sequence[str], Path], Sequence[str]]


@contextmanager
def gateway(
    name: str,
    upstream_ports: Sequence[int],
    folder: Path,
    environments: Path,
    wrapper: Wrapper | None = None,
    *,
    launcher: Callable[[Place], Launch] | None = None,
) -> Iterator[Gateway]:
    """One gateway in front of these replicas, its answers checked; raises PeerUnavailable.

    A wrapper makes another command of the gateway's own, given its folder; a launcher starts it in another form than
    that beside its peers.
    """
    own = own_folder(folder, name, len(upstream_ports))
    own.mkdir()
    port, spare_port = free_ports(2)
    place = Place(
        port=port,
        spare_port=spare_port,
        upstream_urls=tuple(f"http://127.0.0.1:{one}" for one in upstream_ports),
        folder=own,
        environments=environments,
    )
    launch = (launcher or PEERS[name])(place)
    command = launch.command if wrapper is None else wrapper(launch.command, own)
    with process(list(command), own / "log", {**os.environ, **launch.environment}, own) as started:
        wait_valid(started, place.port, own / "log", START_S_MAX if wrapper is None else WRAPPED_START_S_MAX)
        yield Gateway(name=name, version=launch.version, port=place.port, pid=started.pid, replicas=len(upstream_ports))


def own_folder(folder: Path, name: str, replicas: int) -> Path:
    """Where a gateway has its settings, its log and whatever it writes."""
    return folder / f"{name}-{replicas}"


def free_ports(count: int) -> list[int]:
    """Ports nobody listens on at this moment, all different."""
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]


@contextmanager
def process(
    command: list[str], log: Path, environment: dict[str, str] | None = None, folder: Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A child that is ended with the block."""
    with log.open("wb") as output:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment, cwd=folder
        )
    try:
        yield child
    finally:
        child.terminate()
        try:
            child.wait(END_S_MAX)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def wait_valid(child: subprocess.Popen[bytes], port: int, log: Path, within_s: float = START_S_MAX) -> None:
    """Return when its answers are whole; raises PeerUnavailable when that takes too long."""
    deadline_s = time.monotonic() + within_s
    while (problem := validity.problem(port)) is not None:
        if child.poll() is not None or time.monotonic() > deadline_s:
            what = "ended before it answered" if child.poll() is not None else f"not answering after {within_s:.0f} s"
            last_lines = " | ".join(log.read_text(errors="replace").strip().splitlines()[-3:])
            raise PeerUnavailable(what, f"{problem}; its log ends: {last_lines[-500:]}")
        time.sleep(0.2)
