"""`make bench-watch`: what it costs one worker to watch 500 replicas, as a share of one core.

The replicas are 500 loopback addresses behind one process that answers vLLM's pages; the watch runs in this one, with
everything a gateway does at a publication. An empty loop with as many timers is measured beside it.
"""

import argparse
import asyncio
import gc
import os
import random
import subprocess
import sys
import time

import uvloop

from heterodyne.control.fleet_watch import FleetWatch
from heterodyne.domain.fleet import FleetSnapshot, Health, PoolName, Replica, ReplicaId
from heterodyne.engines.catalogue import DIALECTS, ENGINES
from heterodyne.gateway.fleet_view import FleetView
from heterodyne.routing.health.fleet_health import FleetHealth
from heterodyne.routing.settings import RoutingSettings
from heterodyne.telemetry import log
from heterodyne.telemetry.settings import TelemetrySettings
from heterodyne.wire.connection_pool import ConnectionPool

HOST, MODEL, POOL_REPLICAS = "127.0.0.1", "llama-3.1-70b", 50
TARGET_SHARE = 0.05
SPIN = 2_000_000


def main() -> None:
    """Start the replicas' process, watch them, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicas", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--ports", type=int, default=50, help="replicas share ports under different paths")
    parser.add_argument("--answer", action="store_true", help="be the replicas' process")
    arguments = parser.parse_args()
    if arguments.answer:
        uvloop.run(_answer(arguments.ports))
        return
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 50, 50)  # as a worker does
    log.configure(TelemetrySettings(log_level="error"))
    replicas_process = subprocess.Popen(
        [sys.executable, __file__, "--answer", "--ports", str(arguments.ports)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert replicas_process.stdout is not None
        ports = [int(word) for word in replicas_process.stdout.readline().split()]
        uvloop.run(_measure(_fleet(arguments.replicas, ports), arguments.seconds))
    finally:
        replicas_process.terminate()
        replicas_process.wait()


def _fleet(count: int, ports: list[int]) -> tuple[Replica, ...]:
    return tuple(
        Replica(
            id=ReplicaId(f"pool-{index // POOL_REPLICAS}-{index % POOL_REPLICAS}"),
            pool=PoolName(f"pool-{index // POOL_REPLICAS}"),
            model=MODEL,
            engine="vllm",
            host=HOST,
            port=ports[index % len(ports)],
            base_path=f"/{index // len(ports)}",
            hardware="h100",
        )
        for index in range(count)
    )


async def _measure(replicas: tuple[Replica, ...], seconds: float) -> None:
    view = FleetView(DIALECTS, FleetSnapshot.of(0, replicas))
    fleet_health = FleetHealth(RoutingSettings(), view.snapshot, time.monotonic())
    publications, publish_s = 0, 0.0

    def publish(snapshot: FleetSnapshot) -> None:
        nonlocal publications, publish_s
        began_s = time.thread_time()
        view.publish(snapshot)
        fleet_health.publish(snapshot, time.monotonic())
        publications += 1
        publish_s += time.thread_time() - began_s

    pool = ConnectionPool(asyncio.get_running_loop(), idle_max=1)
    probes = 0

    def on_probe(replica: ReplicaId, now_s: float) -> None:
        nonlocal probes
        fleet_health.on_probe(replica, now_s)
        probes += 1

    watch = FleetWatch(
        ENGINES, pool, view.snapshot, publish, clock=time.monotonic, chance=random.Random(7).random, on_probe=on_probe
    )
    interval_s = watch.snapshot().interval_s
    empty_share = await _empty_loop_share(len(replicas), interval_s, seconds / 4)
    began_s, cpu_s = time.monotonic(), time.process_time()
    task = asyncio.get_running_loop().create_task(watch.run())
    while not all(replica.health is Health.READY for replica in view.snapshot.replicas):
        await asyncio.sleep(0.05)
    print(
        f"{len(replicas)} replicas ready after {time.monotonic() - began_s:.2f} s "
        f"and {time.process_time() - cpu_s:.2f} s of CPU, {publications} snapshots"
    )
    publications, publish_s, probes = 0, 0.0, 0
    began_s, cpu_s = time.monotonic(), time.process_time()
    await asyncio.sleep(seconds)
    wall_s, cpu_s = time.monotonic() - began_s, time.process_time() - cpu_s
    now_s = time.monotonic()
    ages_s = sorted(now_s - (replica.load_at_s or 0.0) for replica in view.snapshot.replicas)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    share = cpu_s / wall_s
    print(
        f"looks every {interval_s:g} s: {probes / wall_s:.0f} a second, {publications / wall_s:.1f} snapshots a second"
    )
    print(f"age of a load: median {ages_s[len(ages_s) // 2]:.1f} s, oldest {ages_s[-1]:.1f} s")
    print(f"CPU: {share:.2%} of a core (target {TARGET_SHARE:.0%}), {cpu_s / probes * 1e6:.0f} us a look,")
    print(f"     of which publishing {publish_s / wall_s:.2%} ({publish_s / publications * 1e3:.1f} ms a snapshot)")
    print(f"     an empty loop with as many timers: {empty_share:.2%}; the watch is {share / empty_share:.1f} of it")
    print(f"this machine adds {SPIN / 1e6:g} million numbers in Python in {_spin_s():.2f} s")


async def _empty_loop_share(tasks: int, interval_s: float, seconds: float) -> float:
    async def sleeper() -> None:
        while True:
            await asyncio.sleep(interval_s * random.uniform(0.8, 1.2))

    began_s, cpu_s = time.monotonic(), time.process_time()
    async with asyncio.TaskGroup() as group:
        sleepers = [group.create_task(sleeper()) for _ in range(tasks)]
        await asyncio.sleep(seconds)
        for task in sleepers:
            task.cancel()
    return (time.process_time() - cpu_s) / (time.monotonic() - began_s)


def _spin_s() -> float:
    began_s, total = time.process_time(), 0
    for number in range(SPIN):
        total += number
    return time.process_time() - began_s


async def _answer(ports: int) -> None:
    """Answers by the end of the path alone, out of bytes made before."""
    loop = asyncio.get_running_loop()
    servers = [await loop.create_server(_Replica, HOST, 0, backlog=1024) for _ in range(ports)]
    print(*(server.sockets[0].getsockname()[1] for server in servers), flush=True)
    await loop.connect_read_pipe(asyncio.Protocol, os.fdopen(0, "rb"))
    await asyncio.Event().wait()


class _Replica(asyncio.Protocol):
    transport: asyncio.Transport
    answered = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]  # a server's transport writes

    def data_received(self, data: bytes) -> None:
        path = data.split(b" ", 2)[1]
        if path.endswith(b"/metrics"):
            _Replica.answered += 1
            body = PAGE + b"vllm:generation_tokens_total%b %d\n" % (LABELS, _Replica.answered)
        elif path.endswith(b"/models"):
            body = b'{"object":"list","data":[{"id":"%b","max_model_len":131072}]}' % MODEL.encode()
        else:
            body = b""
        self.transport.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)


LABELS = b'{engine="0",model_name="meta-llama/Llama-3.1-70B-Instruct"}'


def _page(bytes_min: int = 40_000) -> bytes:
    """As vLLM V1 writes it: gauges and counters between many histograms."""
    lines = [
        b"process_start_time_seconds 1.7e+09",
        b"vllm:num_requests_running%b 37.0" % LABELS,
        b"vllm:num_requests_waiting%b 4.0" % LABELS,
        b"vllm:kv_cache_usage_perc%b 0.61" % LABELS,
        b'vllm:cache_config_info{block_size="16",num_gpu_blocks="27648",engine="0"} 1.0',
        b"vllm:prefix_cache_queries_total%b 9.1e+06" % LABELS,
        b"vllm:prefix_cache_hits_total%b 4.4e+06" % LABELS,
        b"vllm:prompt_tokens_total%b 9.1e+06" % LABELS,
        b"vllm:prompt_tokens_cached_total%b 4.4e+06" % LABELS,
    ]
    number = 0
    while sum(map(len, lines)) < bytes_min:
        number += 1
        name = b"vllm:request_histogram_%d_seconds" % number
        lines += [b"# HELP %b Histogram of something." % name, b"# TYPE %b histogram" % name]
        lines += [b'%b_bucket%b,le="%g"} %d.0' % (name, LABELS[:-1], 0.001 * 2**step, 100 * step) for step in range(20)]
        lines += [b"%b_sum%b 12.5" % (name, LABELS), b"%b_count%b 2000.0" % (name, LABELS)]
    return b"\n".join(lines) + b"\n"


PAGE = _page()

if __name__ == "__main__":
    main()
