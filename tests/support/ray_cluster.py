"""A Ray cluster of this machine, on loopback: its nodes are started and killed one by one."""

import asyncio
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from heterodyne.domain.fleet import PoolName, ReplicaId
from heterodyne.fleet.command_pool import CommandPool
from heterodyne.fleet.free_ports import LOOPBACK, free_ports
from heterodyne.fleet.ray.driver import PlacedRayPool, RayDriver
from heterodyne.fleet.ray.messages import RayOrder
from heterodyne.fleet.settings import PoolSettings
from tests.support.driver_bench import SERVER, DriverBench, replica_of

# Of a loopback address Ray makes the machine's own, unless it may not leave the machine.
LOCAL = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_worker_niceness": "0"}
START_TIMEOUT_S = 120.0
# What Ray's own tests add nodes by: its command line joins no cluster that is on loopback alone.
NODE = """
import json, sys, time
from ray._private.node import Node
from ray._private.parameter import RayParams
said = json.loads(sys.argv[1])
node = Node(
    RayParams(
        gcs_address=said["address"],
        node_ip_address="127.0.0.1",
        num_cpus=2,
        num_gpus=0,
        resources=said["resources"],
        labels=said["labels"],
        object_store_memory=80_000_000,
        min_worker_port=0,
        max_worker_port=0,
        node_manager_port=0,
        include_log_monitor=False,
        temp_dir=said["folder"],
    ),
    head=False,
    shutdown_at_exit=True,
    spawn_reaper=False,
)
print("Ray runtime started", flush=True)
time.sleep(3600)
"""
REPLICA_TIMEOUT_S = 240.0  # its actor's process imports Ray first
MAXIMUM = 4
WORDS = ("{python}", "-S", "-c", SERVER, "{port}")


class RayCluster:
    """Its processes belong to this test run; a head has port, address and folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port, self.client_port = free_ports(2)
        self._nodes: list[subprocess.Popen[bytes]] = []

    @property
    def address(self) -> str:
        """As `fleet.ray_address` has it."""
        return f"ray://{LOOPBACK}:{self.client_port}"

    def start_head(self) -> subprocess.Popen[bytes]:
        """The first node, with everything that a cluster has once."""
        return self._start(
            str(Path(sys.executable).with_name("ray")),
            "start",
            "--head",
            f"--port={self.port}",
            f"--ray-client-server-port={self.client_port}",
            "--include-dashboard=false",
            "--num-cpus=8",
            f"--temp-dir={self._folder}",
            f"--node-ip-address={LOOPBACK}",
            "--object-store-memory=80000000",
            "--disable-usage-stats",
            "--block",  # it stays as long as the node does
        )

    def start_node(self, resources: Mapping[str, float], labels: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Another one, of the same machine."""
        said = {"address": f"{LOOPBACK}:{self.port}", "resources": dict(resources), "labels": dict(labels)}
        return self._start(sys.executable, "-c", NODE, json.dumps({**said, "folder": str(self._folder)}))

    def kill(self, node: subprocess.Popen[bytes]) -> None:
        """With everything that it has started, and without a word."""
        for pid in [*descendants(node.pid), node.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        node.wait(10)
        assert node.stdout is not None
        node.stdout.close()
        self._nodes.remove(node)

    def processes(self, title: str) -> list[int]:
        """Of this cluster alone, by what Ray calls them."""
        return [pid for node in self._nodes for pid in descendants(node.pid) if title in _words(pid)]

    def close(self) -> None:
        """End all of it."""
        for node in list(self._nodes):
            self.kill(node)

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        node = subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "RAY_memory_monitor_refresh_ms": "0", **LOCAL},
            start_new_session=True,
        )
        self._nodes.append(node)
        assert node.stdout is not None
        said = b""
        until_s = time.monotonic() + START_TIMEOUT_S
        while b"Ray runtime started" not in said:
            line = node.stdout.readline()
            said += line
            assert line, said.decode()
            assert time.monotonic() < until_s, said.decode()
        return node


@contextmanager
def ray_cluster() -> Iterator[RayCluster]:
    """With a head."""
    # Ray puts sockets into its folder, whose names may not be long.
    folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
    cluster = RayCluster(folder)
    try:
        cluster.start_head()
        yield cluster
    finally:
        cluster.close()
        shutil.rmtree(folder, ignore_errors=True)


def ray_pool(words: tuple[str, ...] = WORDS, **said: object) -> PlacedRayPool:
    """Of small servers; the settings say what is asked of a node."""
    settings = PoolSettings(model="m", command=words, runs_on="ray", ray_cpus=0.25, **said)  # type: ignore[arg-type]
    name = PoolName("chat")
    pool = CommandPool(
        replica=replica_of(name, ReplicaId("chat-0")),
        words=words,
        health_path="/",
        first=1,
        minimum=0,
        maximum=MAXIMUM,
        start_timeout_s=20.0,
    )
    return PlacedRayPool(pool=pool, settings=settings)


@asynccontextmanager
async def ray_bench(
    cluster: RayCluster,
    pool: PlacedRayPool | None = None,
    *,
    namespace: str = "",
    count: int | None = 1,
    ends_empty: bool = True,
) -> AsyncIterator[DriverBench]:
    """A pool in a namespace of its own; emptied at the end."""
    name = PoolName("chat")
    order = RayOrder(address=cluster.address, namespace=namespace or f"test-{secrets.token_hex(4)}")
    driver = RayDriver(order, {name: pool or ray_pool()})

    async def kill(replica: ReplicaId) -> None:
        [one] = [one for pool in await driver.look() for one in pool.replicas if one.id == replica]
        assert one.replica is not None
        os.kill(engine_pid(one.replica.port), signal.SIGKILL)

    async def other_scaler(count: int) -> None:
        async with other_driver(order, name) as other:
            await other.scale(name, count, seen=(await bench.look()).wanted)

    running = asyncio.create_task(driver.run())
    bench = DriverBench(
        driver=driver,
        pool=name,
        maximum=MAXIMUM,
        kill=kill,
        other_scaler=other_scaler,
        start_timeout_s=REPLICA_TIMEOUT_S,
    )
    try:
        if count is not None:
            await bench.settled(count)
        yield bench
        if ends_empty:
            await driver.scale(name, 0, seen=(await bench.look()).wanted)
            await bench.settled(0)
    finally:
        running.cancel()
        await asyncio.wait((running,))


@asynccontextmanager
async def other_driver(order: RayOrder, name: PoolName) -> AsyncIterator[RayDriver]:
    """That of another gateway."""
    driver = RayDriver(order, {name: ray_pool()})
    running = asyncio.create_task(driver.run())
    try:
        yield driver
    finally:
        running.cancel()
        await asyncio.wait((running,))


def answers(port: int) -> bool:
    """Whether somebody listens there."""
    with socket.socket() as one:
        return one.connect_ex((LOOPBACK, port)) == 0


def engine_pid(port: int) -> int:
    """The small server that listens there."""
    [pid] = [pid for pid in _pids() if (words := _words(pid))[-1:] == [str(port)] and "-S" in words]
    return pid


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def descendants(pid: int) -> list[int]:
    """Of a process, the deepest last."""
    found = [one for one in _pids() if _parent_or_none(one) == pid]
    return [*found, *(deeper for one in found for deeper in descendants(one))]


def _words(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
    except OSError:
        return []


def _pids() -> list[int]:
    return [int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit()]


def _parent_or_none(pid: int) -> int | None:
    try:
        return parent_of(pid)
    except OSError:
        return None
