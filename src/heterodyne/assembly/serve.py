"""`heterodyne serve`: fetches weights, starts engines and gateway workers, keeps them alive, ends them in order."""

import asyncio
import os
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import uvloop

from heterodyne.assembly.announce import announce
from heterodyne.assembly.listen_address import claim
from heterodyne.assembly.replicas import LocalReplica, free_port, local_replica, remote_replicas
from heterodyne.assembly.worker_order import WorkerOrder
from heterodyne.config.settings import Settings
from heterodyne.domain.fleet import Replica
from heterodyne.fleet.supervised_process import SupervisedProcess
from heterodyne.ports.weights import Progress
from heterodyne.registry.weights import obtain
from heterodyne.telemetry import exposition, log, metrics

ENGINE_STOP_TIMEOUT_S = 5.0
WORKER_START_TIMEOUT_S = 30.0
WORKER_STOP_SLACK_S = 3.0  # over the drain time it was granted

_log = log.get("assembly")


def serve(settings: Settings, progress: Progress) -> int:
    """Serve until SIGINT or SIGTERM; the exit code is for the shell."""
    log.configure(settings.telemetry)
    with claim(settings.gateway.host, settings.gateway.port) as holder, tempfile.TemporaryDirectory() as run_dir:
        port: int = holder.getsockname()[1]
        settings = msgspec.structs.replace(settings, gateway=msgspec.structs.replace(settings.gateway, port=port))
        local = _local_replicas(settings, progress)
        return uvloop.run(_supervise(settings, local, Path(run_dir)))


def _local_replicas(settings: Settings, progress: Progress) -> list[LocalReplica]:
    """Fetch what is missing; nothing starts before everything is there."""
    found = []
    for name, pool in settings.pools.items():
        if pool.weights is not None:
            weights = obtain(pool.weights, pool.weights_sha256, settings.registry, progress)
            found.append(local_replica(name, pool, weights, free_port()))
    return found


async def _supervise(settings: Settings, local: list[LocalReplica], run_dir: Path) -> int:
    leave = asyncio.Event()
    loop = asyncio.get_running_loop()
    _leave_on_signals(loop, leave)
    engines = [_engine(one) for one in local]
    replicas = (*(one.replica for one in local), *remote_replicas(settings))
    workers = [_worker(index, settings, replicas, run_dir) for index in range(settings.gateway.workers)]
    # Workers end before the engines they still stream from.
    async with asyncio.TaskGroup() as engine_group:
        engine_tasks = [engine_group.create_task(engine.run(), name=engine.name) for engine in engines]
        async with asyncio.TaskGroup() as worker_group:
            worker_tasks = [worker_group.create_task(worker.run(), name=worker.name) for worker in workers]
            started_here = {one.replica.model for one in local}
            announcer = worker_group.create_task(announce(settings, [*engines, *workers], started_here))
            await leave.wait()
            _log.info("stopping", drain_timeout_s=settings.gateway.drain_timeout_s)
            for task in (announcer, *worker_tasks):
                task.cancel()
        for task in engine_tasks:
            task.cancel()
    return 0


def _leave_on_signals(loop: asyncio.AbstractEventLoop, leave: asyncio.Event) -> None:
    """The first signal drains; a second one leaves at once, and the children follow their parent."""

    def on_signal() -> None:
        if leave.is_set():
            os._exit(130)
        leave.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, on_signal)


def _engine(local: LocalReplica) -> SupervisedProcess:
    return SupervisedProcess(
        f"engine {local.replica.id}",
        "heterodyne.fleet.llamacpp_child",
        msgspec.json.encode(local.order),
        start_timeout_s=local.start_timeout_s,
        stop_timeout_s=ENGINE_STOP_TIMEOUT_S,
    )


def _worker(index: int, settings: Settings, replicas: tuple[Replica, ...], run_dir: Path) -> SupervisedProcess:
    name = f"worker-{index}"
    order = WorkerOrder(name=name, settings=settings, replicas=replicas, run_dir=str(run_dir))
    on_exit: Callable[[str], None] = lambda gone: exposition.fold(run_dir, gone, metrics.ALL)  # noqa: E731
    return SupervisedProcess(
        name,
        "heterodyne.assembly.worker",
        msgspec.json.encode(order),
        start_timeout_s=WORKER_START_TIMEOUT_S,
        stop_timeout_s=settings.gateway.drain_timeout_s + WORKER_STOP_SLACK_S,
        on_exit=on_exit,
    )
