"""The engine as a process of its own, asked by many clients at once over HTTP."""

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

HEAD = b"POST /v1/completions HTTP/1.1\r\nhost: engine\r\ncontent-type: application/json\r\n"
ANSWER_S = 300.0


class _Times(NamedTuple):
    firsts_ms: list[float]
    gaps_ms: list[float]


class Load(NamedTuple):
    """Closed loops: each client asks again when it is answered."""

    clients: int
    requests: int
    prompt_tokens: int
    answer_tokens: int
    vocabulary: int


def served(shape_name: str, load: Load) -> Iterator[dict[str, Any]]:
    """Tokens a second, with the clients' own times: a round that compiles, one client alone, then all of them."""
    with _engine(shape_name, load.clients, 2 * (load.prompt_tokens + load.answer_tokens)) as port:
        for name, one in (
            ("warm", load._replace(requests=load.clients)),
            ("alone", load._replace(clients=1, requests=3)),
            ("together", load),
        ):
            yield {"what": "served", "round": name, **asyncio.run(_measured(port, one))}


@contextmanager
def _engine(shape_name: str, slots: int, context: int) -> Iterator[int]:
    command = [sys.executable, "-m", "heterodyne", "jax", "--random-shape", shape_name, "--port", "0"]
    command += ["--served-model", "m", "--slots", str(slots), "--context", str(context)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline().rsplit(":", 1)[1])
        finally:
            process.terminate()


async def _measured(port: int, load: Load) -> dict[str, Any]:
    draw, times = np.random.default_rng(load.requests), _Times([], [])
    bodies = [
        {
            "model": "m",
            "prompt": draw.integers(0, load.vocabulary, load.prompt_tokens).tolist(),
            "max_tokens": load.answer_tokens,
            "temperature": 0,
            "ignore_eos": True,
            "stream": True,
        }
        for _ in range(load.requests)
    ]
    began_s = time.monotonic()
    async with asyncio.timeout(ANSWER_S):
        await asyncio.gather(*(_client(port, bodies, times) for _ in range(load.clients)))
    took_s = time.monotonic() - began_s
    return load._asdict() | {
        "tokens_per_s": round(load.requests * load.answer_tokens / took_s, 1),
        "ttft_ms": round(statistics.median(times.firsts_ms), 1),
        "itl_ms": round(statistics.mean(times.gaps_ms), 2),
        "itl_p99_ms": round(float(np.quantile(times.gaps_ms, 0.99)), 2),
    }


async def _client(port: int, bodies: list[dict[str, Any]], times: _Times) -> None:
    """One connection, which takes a body whenever it is free."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while bodies:
        data = json.dumps(bodies.pop()).encode()
        writer.write(HEAD + b"content-length: %d\r\n\r\n" % len(data) + data)
        last_s, has_begun = time.monotonic(), False
        status = await reader.readline()
        assert b" 200 " in status, (status, await reader.read(2000))
        while (line := await reader.readline()) != b"0\r\n":
            assert line, "the engine has closed the connection"
            if line.startswith(b"data: {"):
                now_s = time.monotonic()
                (times.gaps_ms if has_begun else times.firsts_ms).append(1000 * (now_s - last_s))
                last_s, has_begun = now_s, True
        await reader.readline()
    writer.close()
