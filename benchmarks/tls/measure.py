"""Measures the CPU that requests take over TLS, with client certificates and without, in turns with plain ones."""

import asyncio
import os
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct

from benchmarks.gateway import running
from benchmarks.gateway.peers import Place, heterodyne
from benchmarks.gateway.scenarios import PROMPT, REQUEST, STREAM
from benchmarks.gateway.upstream import TOKENS
from benchmarks.process_cpu import tree_usage
from benchmarks.tls.load import Client

START_S = 60.0
CLIENTS = 16
PLAIN, TLS, MTLS = DOORS = "plain", "TLS 1.3", "TLS 1.3, client certificates"


class TlsCost(Struct, frozen=True, kw_only=True):
    """CPU of the supervisor and its worker for one request, by round."""

    request: str  # what was asked, and over which connection
    cpu_us: dict[str, list[float]]  # by the door


class Door(Struct, frozen=True, kw_only=True):
    """A gateway, and how clients come to it."""

    name: str
    port: int
    pid: int
    tls: Callable[[], ssl.SSLContext] | None


def measure_tls(rounds: int, seconds: float) -> tuple[TlsCost, ...]:
    """Each request at each door, in turns."""
    found = {title: TlsCost(request=title, cpu_us={name: [] for name in DOORS}) for title in _scenarios()}
    with tempfile.TemporaryDirectory(prefix="heterodyne-tls-") as temporary, ExitStack() as stack:
        folder = Path(temporary)
        (engine,) = stack.enter_context(running.upstream(folder))
        doors = [stack.enter_context(_door(name, engine.port, folder)) for name in DOORS]
        for number in range(rounds):
            for title, scenario in _scenarios().items():
                for door in doors:
                    used = _measured(door, *scenario, seconds)
                    found[title].cpu_us[door.name].append(used)
                    print(f"round {number + 1}  {title:44} {door.name:30} {used:8.1f} µs", file=sys.stderr)
    return tuple(found.values())


def _scenarios() -> dict[str, tuple[bytes, bool]]:
    """By title: what is asked, and whether its connection lasts."""
    return {
        "a whole answer, on a connection that lasts": (REQUEST.request(), True),
        f"a stream of {TOKENS}, on a connection that lasts": (STREAM.request(), True),
        "a 400 KB prompt, on a connection that lasts": (PROMPT.request(), True),
        "a whole answer, on a new connection": (REQUEST.request(), False),
    }


def _measured(door: Door, request: bytes, is_lasting: bool, seconds: float) -> float:
    """CPU of the supervisor and its worker for one request."""
    client = Client(port=door.port, tls=door.tls, request=request, is_lasting=is_lasting, clients=CLIENTS)
    asyncio.run(client.ask(seconds / 4))
    before = tree_usage(door.pid).cpu_s
    asked = asyncio.run(client.ask(seconds))
    if asked.failures or not asked.requests:
        raise SystemExit(f"{door.name}: {asked.failures} of {asked.requests} requests failed")
    return (tree_usage(door.pid).cpu_s - before) / asked.requests * 1e6


@contextmanager
def _door(name: str, engine_port: int, folder: Path) -> Iterator[Door]:
    own = folder / name.replace(" ", "-").replace(",", "")
    own.mkdir()
    (port, spare_port) = running.free_ports(2)
    place = Place(
        port=port,
        spare_port=spare_port,
        upstream_urls=(f"http://127.0.0.1:{engine_port}",),
        folder=own,
        environments=folder,
    )
    launch = heterodyne(place)
    variables, tls = {}, None
    if name != PLAIN:
        ours, theirs = _self_signed(own, "gateway"), _self_signed(own, "client")
        variables = {"TLS_CERTIFICATE": f"{ours}.pem", "TLS_KEY": f"{ours}.key", "TLS_VERSION_MIN": "1.3"}
        if name == MTLS:
            variables |= {"TLS_CLIENT_AUTHORITIES": f"{theirs}.pem", "TLS_CLIENT_CERTIFICATES": "required"}
        tls = lambda: _trusting(ours, theirs)  # noqa: E731
    environment = {f"HETERODYNE_GATEWAY__{key}": value for key, value in variables.items()}
    with running.process(
        list(launch.command), own / "log", {**os.environ, **launch.environment, **environment}, own
    ) as started:
        door = Door(name=name, port=port, pid=started.pid, tls=tls)
        _wait_ready(door)
        yield door


def _wait_ready(door: Door) -> None:
    client = Client(port=door.port, tls=door.tls, request=REQUEST.request(), is_lasting=False, clients=1)
    until_s = time.monotonic() + START_S
    while time.monotonic() < until_s:
        try:
            if asyncio.run(client.ask(0.05)).failures == 0:
                return
        except* (OSError, asyncio.IncompleteReadError):
            time.sleep(0.2)
    raise SystemExit(f"{door.name}: not ready within {START_S:g} s")


def _self_signed(folder: Path, name: str) -> Path:
    """A key of the curve that most certificates have today, and a certificate that vouches for itself."""
    file = folder / name
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2")
    names = ("-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1")
    command = ["openssl", "req", "-x509", *curve, *names, "-keyout", f"{file}.key", "-out", f"{file}.pem"]
    subprocess.run(command, check=True, capture_output=True)
    return file


def _trusting(ours: Path, theirs: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=f"{ours}.pem")
    context.load_cert_chain(f"{theirs}.pem", f"{theirs}.key")
    return context
