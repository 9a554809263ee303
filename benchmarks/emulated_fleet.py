"""Emulated engines behind a real `heterodyne serve`, all processes of this machine, and what they have cost."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from benchmarks.process_cpu import tree_usage
from heterodyne.domain.record import RequestRecord
from heterodyne.testing.serve_process import ServeProcess

START_S_MAX, END_S_MAX = 60.0, 10.0
GATEWAY = "gateway"
BEHIND = "fell behind"  # what an emulator says when the machine was too slow for it


class EmulatedFleet:
    """Emulators and gateway while they run; the gateway is stopped before its records are read."""

    def __init__(
        self,
        serve: ServeProcess,
        emulators: Mapping[str, "subprocess.Popen[str]"],
        engine_urls: Mapping[str, str],
        folder: Path,
    ) -> None:
        self.url = serve.url
        self.admin_url = serve.admin_url
        self.engine_urls = engine_urls
        self._serve = serve
        self._emulators = emulators
        self._folder = folder

    def cpu_s(self) -> dict[str, float]:
        """Of each process, since it began."""
        pids = {GATEWAY: self._serve.process.pid, **{name: one.pid for name, one in self._emulators.items()}}
        return {name: tree_usage(pid).cpu_s for name, pid in pids.items()}

    def end(self) -> list[RequestRecord]:
        """What the gateway wrote down."""
        self._serve.stop()
        for one in self._emulators.values():
            one.terminate()
            one.wait(END_S_MAX)
        lines = (self._folder / "records.jsonl").read_bytes().splitlines()
        return [msgspec.json.decode(line, type=RequestRecord) for line in lines]

    def behind(self) -> list[str]:
        """Emulators that said the machine was too slow for them; only after the end."""
        return [name for name in self._emulators if BEHIND in (self._folder / f"{name}.log").read_text()]


@contextmanager
def emulated_fleet(
    folder: Path, arguments: Mapping[str, Sequence[str]], settings: Callable[[Mapping[str, str]], str]
) -> Iterator[EmulatedFleet]:
    """All of it, ready: an emulator for each of `arguments`, and a gateway by the settings made of their URLs.

    What still runs is ended with the block.
    """
    # Profiles of this machine's user are no part of a measurement.
    environment = {**os.environ, "XDG_DATA_HOME": str(folder)}
    with ExitStack() as stack:
        emulators = {
            name: stack.enter_context(_emulator(name, more, folder, environment)) for name, more in arguments.items()
        }
        urls = {name: _url(name, one, folder) for name, one in emulators.items()}
        serve = stack.enter_context(
            ServeProcess(
                folder,
                config=settings(urls),
                environment={
                    "XDG_DATA_HOME": str(folder),
                    "HETERODYNE_TELEMETRY__RECORDS": str(folder / "records.jsonl"),
                },
            )
        )
        serve.wait_ready()
        yield EmulatedFleet(serve, emulators, urls, folder)


@contextmanager
def _emulator(
    name: str, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> Iterator["subprocess.Popen[str]"]:
    # A usual answer of one token, so that an answer is as long as its request's `min_tokens` says: the gateway does
    # not read that field, and has to guess lengths.
    own = (sys.executable, "-m", "heterodyne", "emulate", "--port", "0", "--output-tokens", "1")
    with (folder / f"{name}.out").open("w") as out, (folder / f"{name}.log").open("w") as log:
        child = subprocess.Popen(
            [*own, *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=log, env=dict(environment), text=True
        )
    try:
        yield child
    finally:
        child.terminate()
        child.wait(END_S_MAX)


def _url(name: str, child: "subprocess.Popen[str]", folder: Path) -> str:
    until_s = time.monotonic() + START_S_MAX
    while not (said := (folder / f"{name}.out").read_text()).endswith("\n"):
        if child.poll() is not None or time.monotonic() > until_s:
            raise SystemExit(f"{name} does not start: {(folder / f'{name}.log').read_text()[-2000:]}")
        time.sleep(0.05)
    return said.strip()
