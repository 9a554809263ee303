"""Reloads, drains, additions and removals one after another under load, and not one stream is lost.

`make soak` runs ten thousand streams, `make test` a few hundred.
"""

import asyncio
import json
import os
import signal
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from msgspec import Struct

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.soak.soak_client import load_whole
from tests.support.requests import MODEL

STREAMS = int(os.environ.get("SOAK_REQUESTS", "3750")) // 5
CLIENTS = 64
TOKENS = 8


class Changes(Struct):
    """How often the fleet was changed."""

    reloads: int = 0
    drains: int = 0
    additions: int = 0


@pytest.mark.timeout(900)
async def test_a_fleet_that_never_stands_still_loses_no_stream(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    behaviour = behaviours.stream(TOKENS, delay_s=0.03)
    async with (
        ScriptedEngine(behaviour) as one,
        ScriptedEngine(behaviour) as two,
        ScriptedEngine(behaviour) as three,
    ):
        with ServeProcess(tmp_path, "--workers", "2", config=_pool(one, two)) as serve:
            await asyncio.to_thread(serve.wait_ready, 30)
            changes = Changes()
            unrest = asyncio.create_task(_unrest(serve, changes, (one, two, three)))
            whole = await load_whole(urlsplit(serve.url).port or 0, STREAMS, clients=CLIENTS, tokens=TOKENS)
            unrest.cancel()
            await asyncio.gather(unrest, return_exceptions=True)
            with capfd.disabled():
                print(
                    f"\nfleet soak: {whole} of {STREAMS} streams whole through {changes.reloads} reloads, "
                    f"{changes.drains} drains and {changes.additions} additions"
                )
            assert whole == STREAMS
            assert changes.reloads > 0
            assert '"level":"error"' not in serve.log.replace(" ", "")
            assert await asyncio.to_thread(serve.stop) == 0


async def _unrest(serve: ServeProcess, changes: Changes, engines: tuple[ScriptedEngine, ...]) -> None:
    """Every round moves the pool to other engines; at least one can serve at any moment."""
    one, two, three = engines
    while True:
        for wanted in ((three,), (one,), (two, three), (one, two)):
            serve.config_file.write_text(_pool(*wanted))
            serve.process.send_signal(signal.SIGHUP)
            changes.reloads += 1
            await _settled(serve, wanted)
        fleet = await _fleet(serve)
        await _change(serve, "drain", replica=fleet[0]["id"])
        changes.drains += 1
        await asyncio.sleep(0.1)
        await _change(serve, "undrain", pool="scripted")
        await _change(serve, "add", pool="scripted", url=three.url)
        changes.additions += 1
        await asyncio.sleep(0.1)
        await _change(serve, "remove", replica=fleet[-1]["id"])


async def _settled(serve: ServeProcess, wanted: tuple[ScriptedEngine, ...]) -> None:
    urls = sorted(engine.url for engine in wanted)
    while sorted(row["url"] for row in await _fleet(serve)) != urls:
        await asyncio.sleep(0.05)


async def _fleet(serve: ServeProcess) -> list[dict[str, Any]]:
    return list((await asyncio.to_thread(_ask, f"{serve.admin_url}/admin/fleet", None))["replicas"])


async def _change(serve: ServeProcess, name: str, **body: str) -> None:
    await asyncio.to_thread(_ask, f"{serve.admin_url}/admin/fleet/{name}", json.dumps(body).encode())


def _ask(url: str, body: bytes | None) -> Any:
    request = urllib.request.Request(url, data=body, headers={"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def _pool(*engines: ScriptedEngine) -> str:
    return f'[pools.scripted]\nmodel = "{MODEL}"\nurls = {json.dumps([engine.url for engine in engines])}\n'
