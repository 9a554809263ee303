"""Drivers of commands over SSH and Slurm, with stand-ins for `ssh` and for Slurm's commands."""

import asyncio
import os
import random
import signal
import socket
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from itertools import product
from pathlib import Path

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import DriverUnavailable
from heterodyne.domain.fleet import PoolName, ReplicaId
from heterodyne.fleet.command_pool import CommandPool
from heterodyne.fleet.free_ports import LOOPBACK
from heterodyne.fleet.hosts.driver import HostsDriver
from heterodyne.fleet.hosts.platform import CommandPlatform, PlacedPool
from heterodyne.fleet.hosts.slurm import SlurmAccess, SlurmPlatform
from heterodyne.fleet.hosts.ssh import SshAccess, SshPlatform
from heterodyne.fleet.platform_settings import Platform
from heterodyne.fleet.settings import PoolSettings
from heterodyne.ports.fleet_driver import DrivenPool
from heterodyne.testing.scripted_slurm import ScriptedSlurm
from heterodyne.testing.scripted_ssh import ScriptedSsh
from tests.support.driver_bench import SERVER, DriverBench, replica_of

POOL = PoolName("chat")
MAXIMUM = 4
HOSTS = (LOOPBACK, "127.0.0.2")
PORTS = 12  # a place each, and a number each for the first jobs of a cluster
POLL_S = 0.3
START_TIMEOUT_S = 180.0  # each question starts an interpreter, beside whatever else a machine has to do
WORDS = ("{python}", "-S", "-c", SERVER.replace('"127.0.0.1"', "sys.argv[2]"), "{port}", "{host}")


def placed_pool(runs_on: Platform, *, words: tuple[str, ...] = WORDS, **said: object) -> PlacedPool:
    """Of small servers."""
    settings = PoolSettings(model="m", command=words, runs_on=runs_on, **said)  # type: ignore[arg-type]
    pool = CommandPool(
        replica=replica_of(POOL, ReplicaId("chat-0")),
        words=words,
        health_path="/",
        first=1,
        minimum=0,
        maximum=MAXIMUM,
        start_timeout_s=20.0,
    )
    return PlacedPool(pool=pool, settings=settings)


def ssh_pool(hosts: dict[str, int] | None = None, **said: object) -> PlacedPool:
    """On one host with four places, unless others are said."""
    hosts = hosts or {"gpu-a": MAXIMUM}
    addresses = dict(zip(hosts, HOSTS, strict=False))
    return placed_pool("ssh", ssh_hosts=hosts, ssh_addresses=addresses, ssh_port_first=ports_in_a_row(), **said)


def slurm_pool(**said: object) -> PlacedPool:
    """Whose jobs have ports that nobody else has."""
    return placed_pool("slurm", slurm_port_first=ports_in_a_row(), **said)


def ssh_platform(ssh: ScriptedSsh) -> SshPlatform:
    return SshPlatform(SshAccess(command=ssh.command, folder=".heterodyne", namespace="tests"))


def slurm_platform(slurm: ScriptedSlurm) -> SlurmPlatform:
    return SlurmPlatform(SlurmAccess(over=slurm.over, namespace="tests"))


@asynccontextmanager
async def ssh_bench() -> AsyncIterator[DriverBench]:
    """A host that is a folder."""
    with tempfile.TemporaryDirectory() as folder:
        ssh = ScriptedSsh(Path(folder) / "hosts")
        try:
            async with hosts_bench(lambda: ssh_platform(ssh), ssh_pool()) as bench:
                await bench.settled(1)
                yield bench
        finally:
            ssh.close()


@asynccontextmanager
async def slurm_bench() -> AsyncIterator[DriverBench]:
    """A cluster of two nodes that are this machine."""
    with tempfile.TemporaryDirectory() as folder:
        slurm = ScriptedSlurm.made(Path(folder) / "slurm", dict.fromkeys(HOSTS, 2))
        try:
            async with hosts_bench(lambda: slurm_platform(slurm), slurm_pool()) as bench:
                await bench.settled(1)
                yield bench
        finally:
            slurm.close()


@asynccontextmanager
async def hosts_bench(
    platform: Callable[[], CommandPlatform], pool: PlacedPool, start_timeout_s: float = START_TIMEOUT_S
) -> AsyncIterator[DriverBench]:
    """A driver that runs, whatever it finds; `platform` is made anew for each gateway."""
    driver = HostsDriver(platform(), {POOL: pool}, poll_s=POLL_S)

    async def kill(replica: ReplicaId) -> None:
        os.kill(engine_pid(await bench.look(), replica), signal.SIGKILL)

    async def other_scaler(count: int) -> None:
        other = HostsDriver(platform(), {POOL: pool}, poll_s=POLL_S)
        running = asyncio.create_task(other.run())
        theirs = DriverBench(driver=other, pool=POOL, maximum=MAXIMUM, kill=kill, start_timeout_s=start_timeout_s)
        try:
            seen = await theirs.settled((await bench.look()).wanted)
            await other.scale(POOL, count, seen=seen.wanted)
            await theirs.settled(count)
        finally:
            running.cancel()
            await asyncio.wait((running,))

    running = asyncio.create_task(driver.run())
    bench = DriverBench(
        driver=driver,
        pool=POOL,
        maximum=MAXIMUM,
        kill=kill,
        other_scaler=other_scaler,
        start_timeout_s=start_timeout_s,
    )
    try:
        yield bench
    finally:
        running.cancel()
        await asyncio.wait((running,))
    with suppress(asyncio.CancelledError):
        running.result()  # it has not failed


async def failure(bench: DriverBench) -> str:
    """What the driver says instead of an answer, as soon as it does."""
    async with deadline(bench.start_timeout_s):
        while True:
            try:
                await bench.driver.look()
            except DriverUnavailable as error:
                return str(error)
            await asyncio.sleep(0.05)


def engine_pid(pool: DrivenPool, replica: ReplicaId) -> int:
    """The small server of a replica."""
    [one] = [one.replica for one in pool.replicas if one.id == replica]
    assert one is not None
    [pid] = [pid for pid, words in processes() if words[-2:] == [str(one.port), one.host]]
    return pid


def processes() -> list[tuple[int, list[str]]]:
    """Of this machine, with their words."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().decode(errors="replace").rstrip("\0").split("\0")
        except OSError:
            continue
        if "-S" in words:
            found.append((int(file.parent.name), words))
    return found


def ports_in_a_row() -> int:
    """The first of some that are free on all hosts, below those that the system gives away to whoever asks."""
    while True:
        first = random.randrange(10_000, 30_000)
        with ExitStack() as held, suppress(OSError):
            for port, host in product(range(first, first + PORTS), HOSTS):
                held.enter_context(socket.socket()).bind((host, port))
            return first
