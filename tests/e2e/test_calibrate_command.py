"""`heterodyne calibrate` against a server with a known pace: the burst, the fit, the file, and what can go wrong."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from heterodyne.cli.main import cli
from heterodyne.registry.profile_store import read_profiles
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import Behaviour, EngineCall, ScriptedEngine

# Both many times what is predicted for the hardware below, so that a busy machine does not hide the difference.
STEP_S = 0.008
PROMPT_S_PER_WORD = 0.001
ABOUT = (
    *("--hardware", "cpu-arm", "--model", "smollm2-135m", "--precision", "int4", "--engine", "llamacpp"),
    *("--points", "8", "--context-max", "256", "--concurrency-max", "2", "--budget-s", "40"),
)


def prompt(body: dict[str, Any]) -> str:
    return str(body["prompt"] if "prompt" in body else body["messages"][0]["content"])


async def steady(call: EngineCall) -> None:
    """Each word of the prompt and each token of the answer takes its time, whoever else is there."""
    words = len(prompt(call.json).split())
    tokens = call.json["max_tokens"]
    assert isinstance(tokens, int)
    call.head(200, *behaviours.EVENT_STREAM)
    await asyncio.sleep(words * PROMPT_S_PER_WORD)
    for _ in range(tokens):
        if call.was_cancelled:
            return
        call.event(behaviours.chat_event(" word"))
        await asyncio.sleep(STEP_S)
    call.event({**behaviours.chat_event(None), "choices": [], "usage": behaviours.usage(words, tokens)})
    call.event(b"[DONE]")
    call.write(b"0\r\n\r\n")


async def picky(call: EngineCall) -> None:
    """Knows chats only, refuses a field it does not know, and prompts over 100 words."""
    words = len(prompt(call.json).split())
    if "messages" not in call.json:
        await behaviours.refuse(404, "no such path")(call)
    elif "ignore_eos" in call.json:
        await behaviours.refuse(400, "unknown field ignore_eos")(call)
    elif words > 100:
        await behaviours.refuse(400, "the context is 100 tokens")(call)
    else:
        await steady(call)


async def in_one_piece(call: EngineCall) -> None:
    """A stream that something on the way held back until it was whole."""
    call.head(200, *behaviours.EVENT_STREAM)
    call.event({**behaviours.chat_event("all of it"), "usage": behaviours.usage(10, 16)})
    call.event(b"[DONE]")
    call.write(b"0\r\n\r\n")


@contextmanager
def served(behaviour: Behaviour, **options: Any) -> Iterator[ScriptedEngine]:
    """The engine in a loop of its own, as another process would be."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    engine = ScriptedEngine(behaviour, **options)
    asyncio.run_coroutine_threadsafe(engine.open(), loop).result(10)
    try:
        yield engine
    finally:
        asyncio.run_coroutine_threadsafe(engine.close(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def run(folder: Path, *words: str) -> Result:
    environment = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "HETERODYNE_CONFIG": None}
    return CliRunner(env=environment).invoke(cli, list(words), prog_name="heterodyne")


def test_a_known_pace_is_found_kept_and_planned_with(tmp_path: Path) -> None:
    with served(steady) as engine:
        result = run(tmp_path, "calibrate", engine.url, *ABOUT, "--json")
        bodies = [call.json for call in engine.calls]
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    times = [one["measured"]["itl_s"] for one in found["points"]]
    assert len(times) >= 6
    # Sleeps are never short, and a busy machine makes them long.
    assert all(STEP_S * 0.8 < time_s < STEP_S * 10 for time_s in times)
    assert found["error_left_out"]["itl"] < found["error_before"]["itl"]
    assert all(body["ignore_eos"] for body in bodies)
    prompts = [prompt(body) for body in bodies]
    assert len(set(prompts)) == len(prompts), "no prompt is sent twice"

    (profile,) = read_profiles(tmp_path / "heterodyne" / "profiles.toml")
    assert (profile.key.chip, profile.key.engine, profile.key.tp) == ("cpu-arm", "llamacpp", 1)
    assert profile.measured_points == len(times)
    assert "127.0.0.1" not in profile.source
    asked = ("plan", "hardware", "--model", "smollm2-135m", "--precision", "int4", "--class", "background", "--json")
    choices = json.loads(run(tmp_path, *asked).stdout)["choices"]
    assert [one["basis"] for one in choices if one["accelerator"] == "cpu-arm"] == ["yours"]


def test_a_profile_no_better_than_before_is_kept_by_force_in_the_file_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    with served(steady) as engine:
        result = run(tmp_path, "calibrate", engine.url, *ABOUT, "--points", "6", "--force", "--output", str(file))
    assert result.exit_code == 0, result.output
    assert "kept in" in result.stderr
    assert "plans read it once physics.profiles of the settings names it" in result.stderr
    assert result.stdout.startswith("AT ONCE")
    assert "on points the fit has not seen" in result.stdout
    assert len(read_profiles(file)) == 1


def test_a_refused_field_is_left_out_and_refused_points_are_told(tmp_path: Path) -> None:
    with served(picky) as engine:
        result = run(tmp_path, "calibrate", engine.url, *ABOUT)
    assert "not measured: HTTP 400: the context is 100 tokens" in result.stderr
    assert result.exit_code == 1
    assert "a profile needs 6" in result.stderr
    assert not (tmp_path / "heterodyne").exists()


def test_a_dry_run_lists_the_points_and_sends_no_load(tmp_path: Path) -> None:
    with served(steady) as engine:
        result = run(tmp_path, "calibrate", engine.url, *ABOUT, "--dry-run")
        assert engine.calls == []
    assert len(result.stdout.splitlines()) == 9


@pytest.mark.parametrize(
    ("behaviour", "words", "message"),
    [
        (behaviours.refuse(404, "no such model"), (), "the first requests: HTTP 404: no such model"),
        (behaviours.refuse(503, "starting"), (), "http_5xx: HTTP 503: starting"),
        (in_one_piece, (), "the tokens of an answer arrive in one piece"),
        (steady, ("--engine-model", "other"), 'serves no model "other"; it has scripted'),
        (steady, ("--api-key-env", "NOBODY_SET_THIS"), "the environment variable NOBODY_SET_THIS is not set"),
        (steady, ("--model", "llama-3.1-405b", "--hardware", "l4", "--engine", "vllm"), "does not fit"),
    ],
)
def test_what_cannot_be_measured_is_said_and_nothing_is_kept(
    tmp_path: Path, behaviour: Behaviour, words: tuple[str, ...], message: str
) -> None:
    with served(behaviour) as engine:
        result = run(tmp_path, "calibrate", engine.url, *ABOUT, *words)
    assert result.exit_code in (1, 2)
    assert message in result.stderr
    assert not (tmp_path / "heterodyne").exists()


def test_an_endpoint_that_is_down_is_named(tmp_path: Path) -> None:
    result = run(tmp_path, "calibrate", "http://127.0.0.1:1", *ABOUT)
    assert result.exit_code == 1
    assert "127.0.0.1:1: nobody listens on 127.0.0.1:1; is the engine up, and the URL right?" in result.stderr
