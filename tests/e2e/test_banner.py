"""What the banner says of keys is what the gateway answers."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess


def heterodyne(folder: Path, *words: str) -> None:
    """A command that works on the state of the gateway in that folder."""
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "HETERODYNE_CONSOLE__PORT": "0"}
    subprocess.run(
        [sys.executable, "-m", "heterodyne", *words], check=True, cwd=folder, env=environment, capture_output=True
    )


def banner(folder: Path, config: str) -> str:
    with ServeProcess(folder, config=config) as serve:
        serve.wait_ready()
        serve.stop()
    return (folder / "serve.out").read_text()


async def test_the_banner_asks_for_a_key_once_there_is_one_in_the_database(tmp_path: Path) -> None:
    async with ScriptedEngine(behaviours.answer(), model="m") as engine:
        config = f'[pools.a]\nmodel = "m"\nurls = ["{engine.url}"]\n'
        keyless = await asyncio.to_thread(banner, tmp_path, config)
        assert 'api_key="none"' in keyless
        assert "keys: none needed" in keyless
        for words in (("tenants", "create", "acme"), ("tenants", "create", "acme/x"), ("keys", "create", "acme/x")):
            await asyncio.to_thread(heterodyne, tmp_path, *words)
        keyed = await asyncio.to_thread(banner, tmp_path, config)
        assert 'api_key="none"' not in keyed
        assert "Authorization: Bearer $HETERODYNE_API_KEY" in keyed
