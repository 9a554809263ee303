"""What keeps a batch fails while its lines are asked: they go on, each is asked once, and the books have each once."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from heterodyne.testing.scripted_engine import EngineCall, ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.support.batch_kills import ENDS, FILE, MODEL, Counting, check, get, post, put_input, serving
from tests.support.threads import in_thread

LINES = 40
WITHIN_S = 60.0


class Held:
    """Answers nothing before it is told to, and counts how often each line is asked."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.is_held = True
        self._answer = Counting(LINES)

    async def __call__(self, call: EngineCall) -> None:
        self.asked[call.json["messages"][-1]["content"]] += 1
        while self.is_held and not call.was_cancelled:
            await asyncio.sleep(0.02)
        await self._answer(call)


def interrupted(serve: ServeProcess) -> int:
    """How often the keeper has failed."""
    return sum(one["event"] == "batch_interrupted" for one in serve.events())


def until(is_true: Callable[[], bool]) -> None:
    until_s = time.monotonic() + WITHIN_S
    while not is_true():
        assert time.monotonic() < until_s
        time.sleep(0.05)


def test_lines_are_asked_once_while_the_keeper_of_their_batch_fails(tmp_path: Path) -> None:
    asyncio.run(put_input(tmp_path, LINES))
    engine = Held()
    asked = {"input_file_id": FILE, "endpoint": "/v1/chat/completions", "completion_window": "24h"}
    with in_thread(ScriptedEngine(engine, model=MODEL)) as scripted, serving(tmp_path, scripted.url) as serve:
        id = post(f"{serve.url}/v1/batches", asked)["id"]
        until(lambda: len(engine.asked) >= 8)
        # A folder in the place of results cannot be read, as a file of a disk that fails.
        (work,) = (tmp_path / "state" / "heterodyne").glob(f"*.work/{id}")
        (work / "999999.results").mkdir()
        until(lambda: interrupted(serve) > 0)
        time.sleep(1.0)  # workers look twice in it at what they are to work on
        engine.is_held = False
        (work / "999999.results").rmdir()
        until(lambda: get(f"{serve.url}/v1/batches/{id}")["status"] in ENDS)
        assert set(engine.asked.values()) == {1}, "no line is asked, and charged, twice"
        check(tmp_path, get(f"{serve.url}/v1/batches/{id}"), LINES, print)
        assert serve.stop() == 0
