"""A long run over a gateway in a process of its own: memory stays flat and nothing is left behind.

`make soak` runs many more requests than `make test` does.
"""

import asyncio
import os
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.soak.soak_client import load
from tests.soak.worker_figures import rss_kib, settled
from tests.support.requests import MODEL

REQUESTS = int(os.environ.get("SOAK_REQUESTS", "1500"))
CLIENTS = 64
TOKENS = 8
SEED = 7
GROWTH_MAX_KIB = 5 * 1024
POOL = '[pools.scripted]\nmodel = "{model}"\nurls = ["{url}"]\n'


@pytest.mark.timeout(900)
async def test_memory_stays_flat_and_nothing_leaks(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    async with ScriptedEngine(behaviours.stream(TOKENS, delay_s=0.001)) as engine:
        with ServeProcess(tmp_path, config=POOL.format(model=MODEL, url=engine.url)) as serve:
            await asyncio.to_thread(serve.wait_ready, 30)
            port, worker = urlsplit(serve.url).port or 0, serve.pid_of("worker-0")
            warm = await load(port, max(400, REQUESTS // 5), clients=CLIENTS, tokens=TOKENS, seed=SEED)
            warm_kib, began_s = rss_kib(worker), time.monotonic()
            tally = await load(port, REQUESTS, clients=CLIENTS, tokens=TOKENS, seed=SEED + CLIENTS)
            took_s = time.monotonic() - began_s
            figures = await settled(port)
            grown_kib = rss_kib(worker) - warm_kib
            with capfd.disabled():
                print(
                    f"\nsoak: {REQUESTS} requests of {TOKENS} tokens by {CLIENTS} clients in {took_s:.1f} s: "
                    f"{tally.complete} complete, {tally.cancelled} cancelled; memory of the worker "
                    f"{warm_kib / 1024:.1f} MiB after warm-up, {grown_kib / 1024:+.2f} MiB after the run"
                )
            assert tally.complete + tally.cancelled == REQUESTS
            asked = REQUESTS + warm.complete + warm.cancelled
            complete = tally.complete + warm.complete
            # A client that cut its connection at once may have taken its request back before it was read.
            assert complete <= figures["200"] <= figures["requests"] <= asked
            assert figures["requests"] >= complete + figures["499"]
            assert figures["connections"] == 1, "only the one that asks"
            assert figures["busy"] == figures["in_flight"] == figures["body_bytes"] == 0
            assert grown_kib < GROWTH_MAX_KIB
            assert '"level":"error"' not in serve.log.replace(" ", "")
