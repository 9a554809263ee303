"""The doctor before live engines and a live gateway."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess

MODEL = "some-model"


def scripted() -> ScriptedEngine:
    return ScriptedEngine(behaviours.answer(), model=MODEL)


def pool(name: str, url: str, more: str = "") -> str:
    return f'[pools.{name}]\nmodel = "{MODEL}"\nengine = "openai"\nurls = ["{url}"]\n{more}'


async def doctor(folder: Path, config: str, *flags: str) -> tuple[int, dict[str, dict[str, str]], str]:
    """The exit code, the findings about engines and ports by name, and the whole of what was said."""
    file = folder / "doctor.toml"
    file.write_text(config)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "heterodyne", "--config", str(file)),
        *("--set", "gateway.port=0", "--set", "console.port=0", *flags, "doctor", "--json"),
        env={**os.environ, "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")},
        stdout=subprocess.PIPE,
    )
    said, _ = await process.communicate()
    assert process.returncode is not None
    findings = {one["name"]: one for one in json.loads(said)["findings"] if one["topic"] in ("engines", "port")}
    return process.returncode, findings, said.decode()


async def test_an_engine_that_answers_and_serves_the_model_is_good(tmp_path: Path) -> None:
    async with scripted() as engine:
        code, findings, _ = await doctor(tmp_path, pool("a", engine.url))
        assert (code, findings["a-0"]["state"]) == (0, "good")


async def test_an_engine_url_that_is_dead_blocks_serving(tmp_path: Path) -> None:
    code, findings, _ = await doctor(tmp_path, pool("a", "http://127.0.0.1:9"))
    assert (code, findings["a-0"]["state"]) == (1, "blocker")
    assert "pools.a.urls[0]: http://127.0.0.1:9 is not ready" in findings["a-0"]["value"]


async def test_a_dead_engine_beside_one_that_answers_is_a_warning(tmp_path: Path) -> None:
    async with scripted() as engine:
        code, findings, _ = await doctor(tmp_path, pool("a", engine.url) + pool("b", "http://127.0.0.1:9"))
        assert (code, findings["a-0"]["state"], findings["b-0"]["state"]) == (0, "good", "warning")


async def test_an_engine_that_serves_another_model_blocks_serving(tmp_path: Path) -> None:
    async with scripted() as engine:
        code, findings, _ = await doctor(tmp_path, pool("a", engine.url, 'engine_model = "another"\n'))
        assert (code, findings["a-0"]["state"]) == (1, "blocker")
        assert f'serves "{MODEL}", not "another"' in findings["a-0"]["value"]
        assert "engine_model" in findings["a-0"]["advice"]


async def test_an_engine_of_another_kind_is_a_warning(tmp_path: Path) -> None:
    async with scripted() as engine:
        config = pool("a", engine.url).replace('"openai"', '"vllm"')
        _, findings, said = await doctor(tmp_path, config)
        assert findings["a-0"]["state"] in ("warning", "blocker"), said


async def test_our_own_running_gateway_is_a_note_and_anothers_a_blocker(tmp_path: Path) -> None:
    async with scripted() as engine:
        config = pool("a", engine.url)
        with ServeProcess(tmp_path, config=config) as serve:
            await asyncio.to_thread(serve.wait_ready)
            port, admin = serve.url.rpartition(":")[2], serve.admin_url.rpartition(":")[2]
            flags = ("--set", f"gateway.port={port}", "--set", f"console.port={admin}")
            code, findings, _ = await doctor(tmp_path, config, *flags)
            assert code == 0
            assert {one["state"] for name, one in findings.items() if name != "a-0"} == {"note"}
            other = config.replace(f'model = "{MODEL}"', f'model = "mine"\nengine_model = "{MODEL}"')
            code, findings, _ = await doctor(tmp_path, other, *flags)
            assert code == 1
            assert MODEL in findings[f"gateway 127.0.0.1:{port}"]["value"]
