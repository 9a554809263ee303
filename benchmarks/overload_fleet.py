"""The fleet that is overrun: two kinds of emulated hardware behind `heterodyne serve`, and a tenant of each tier."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec
import uvloop
from msgspec import Struct

from heterodyne.domain.record import RequestRecord
from heterodyne.domain.urgency import Tier
from heterodyne.physics.serving import Slo
from heterodyne.ports.tenant_changes import KeyDraft, OrganisationDraft, ProjectDraft
from heterodyne.stores.open_store import open_database, tenants_in
from heterodyne.testing.serve_process import ServeProcess
from process_cpu import tree_usage

MODEL = "llama-3.1-8b"
CONTEXT_TOKENS = 8192
START_S_MAX, END_S_MAX = 60.0, 10.0
GATEWAY = "gateway"
BEHIND = "fell behind"  # what an emulator says when the machine was too slow for it
WHO = "benchmark"


class EmulatedPool(Struct, frozen=True, kw_only=True):
    """One replica."""

    hardware: str
    precision: str
    slots: int  # so few that a small machine can emulate them all taken


POOLS = {
    "h100": EmulatedPool(hardware="h100-sxm", precision="bf16", slots=16),
    "l4": EmulatedPool(hardware="l4", precision="fp8", slots=16),
}


class OverloadFleet:
    """Emulators and gateway while they run; the gateway is stopped before its records are read."""

    def __init__(
        self,
        serve: ServeProcess,
        emulators: Mapping[str, "subprocess.Popen[str]"],
        engine_urls: Mapping[str, str],
        keys: Mapping[Tier, str],
        folder: Path,
    ) -> None:
        self.url = serve.url
        self.engine_urls = engine_urls
        self.keys = keys
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
def overload_fleet(folder: Path, slo: Slo, *, tells_slots: bool = True) -> Iterator[OverloadFleet]:
    """All of it, ready; what still runs is ended with the block."""
    # Profiles of this machine's user are no part of the measurement.
    environment = {**os.environ, "XDG_DATA_HOME": str(folder)}
    database = folder / "heterodyne.db"
    keys = uvloop.run(_make_tenants(f"sqlite:{database}"))
    with ExitStack() as stack:
        emulators = {
            name: stack.enter_context(_emulator(name, pool, folder, environment)) for name, pool in POOLS.items()
        }
        urls = {name: _url(name, one, folder) for name, one in emulators.items()}
        serve = stack.enter_context(
            ServeProcess(
                folder,
                config=_settings(urls, slo, database, tells_slots=tells_slots),
                environment={
                    "XDG_DATA_HOME": str(folder),
                    "HETERODYNE_TELEMETRY__RECORDS": str(folder / "records.jsonl"),
                },
            )
        )
        serve.wait_ready()
        yield OverloadFleet(serve, emulators, urls, keys, folder)


async def _make_tenants(url: str) -> dict[Tier, str]:
    """A project of each tier; the secrets of their keys."""
    database = await open_database(url, os.environ)
    try:
        tenants = tenants_in(database)
        await tenants.create_organisation(OrganisationDraft(id="acme"), who=WHO)
        secrets = {}
        for tier in Tier:
            await tenants.create_project(ProjectDraft(id=f"acme/{tier.value}", tier=tier), who=WHO)
            secrets[tier] = (await tenants.create_key(KeyDraft(project=f"acme/{tier.value}"), who=WHO)).secret
        return secrets
    finally:
        await database.close()


def _settings(urls: Mapping[str, str], slo: Slo, database: Path, *, tells_slots: bool) -> str:
    """The gateway's settings file; all that is not said here is as it comes."""
    parts = [f'[stores]\nurl = "sqlite:{database}"\n']
    for name, pool in POOLS.items():
        parts.append(
            f'[pools.{name}]\nmodel = "{MODEL}"\nengine = "vllm"\nurls = ["{urls[name]}"]\n'
            f'hardware = "{pool.hardware}"\nprecision = "{pool.precision}"\ncontext_tokens = {CONTEXT_TOKENS}\n'
            + (f"in_flight_max = {pool.slots}\n" if tells_slots else "")
        )
    parts.append(f'[models."{MODEL}"]\nslo_ttft_ms = {1000 * slo.ttft_s:g}\nslo_itl_ms = {1000 * slo.itl_s:g}\n')
    return "\n".join(parts)


@contextmanager
def _emulator(
    name: str, pool: EmulatedPool, folder: Path, environment: Mapping[str, str]
) -> Iterator["subprocess.Popen[str]"]:
    # A usual answer of one token, so that an answer is as long as its request's `min_tokens` says: the gateway does
    # not read that field, and has to guess lengths.
    command = [
        sys.executable, "-m", "heterodyne", "emulate", "--port", "0", "--hardware", pool.hardware, "--model", MODEL,
        "--precision", pool.precision, "--slots", str(pool.slots), "--context", str(CONTEXT_TOKENS),
        "--output-tokens", "1",
    ]  # fmt: skip
    with (folder / f"{name}.out").open("w") as out, (folder / f"{name}.log").open("w") as log:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=log, env=dict(environment), text=True
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
