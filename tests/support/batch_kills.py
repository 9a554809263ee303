"""A batch that is worked off while its gateway is killed again and again, and what must be true at the end."""

import asyncio
import json
import os
import random
import signal
import sqlite3
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from heterodyne.batches.file_object import file_document
from heterodyne.domain.record_block import RecordBlock
from heterodyne.domain.usage import UsageRecord
from heterodyne.stores.open_store import documents_in, open_database
from heterodyne.testing.scripted_engine import EngineCall, ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.support.threads import in_thread

MODEL = "chat"
FILE = f"file-{bytes(24).hex()}"
ENDS = ("completed", "failed", "expired", "cancelled")
WORKERS = 2
COLLECT_S = 60.0


class Survived(Struct, frozen=True, kw_only=True):
    """What went on until the batch was over."""

    lines: int
    killed: dict[str, int]  # how often each was
    records: int  # in the books, of lines and of what was cut off before it had an answer


class Counting:
    """Answers with as many tokens as the line's number says, after a moment; the last line waits for the last kill."""

    def __init__(self, lines: int = 0, kills: int = 0) -> None:
        self.last = lines - 1
        self.kills_left = kills

    async def __call__(self, call: EngineCall) -> None:
        number = int(call.json["messages"][-1]["content"])
        await asyncio.sleep(0.05)
        while number == self.last and self.kills_left and not call.was_cancelled:
            await asyncio.sleep(0.05)
        if not call.was_cancelled:
            _answer(call, number)


def _answer(call: EngineCall, number: int) -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": f"re {number}"}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 7, "completion_tokens": 1 + number % 50, "total_tokens": 8 + number % 50}
    call.whole(
        200,
        {"id": "c", "object": "chat.completion", "created": 1, "model": "chat", "choices": [choice], "usage": usage},
    )


def line(number: int) -> str:
    body = {"model": MODEL, "messages": [{"role": "user", "content": str(number)}]}
    return json.dumps({"custom_id": f"r-{number}", "method": "POST", "url": "/v1/chat/completions", "body": body})


def get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return json.load(answer)


def post(url: str, body: object) -> Any:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


@contextmanager
def serving(folder: Path, url: str) -> Iterator[ServeProcess]:
    config = f'[pools.own]\nmodel = "{MODEL}"\nengine = "vllm"\nurls = ["{url}"]\nprice_usd_per_hour = 3.6\n'
    with ServeProcess(folder, "--workers", str(WORKERS), config=config) as serve:
        serve.wait_ready()
        yield serve


async def put_input(folder: Path, lines: int) -> None:
    """As an upload leaves it."""
    files = folder / "state" / "heterodyne" / "files"
    files.mkdir(parents=True, exist_ok=True)
    (files / FILE).write_text("".join(f"{line(number)}\n" for number in range(lines)))
    database = await open_database("sqlite:", {"XDG_STATE_HOME": str(folder / "state")})
    now = time.time()
    document = file_document(
        "local/local",
        id=FILE,
        filename="in.jsonl",
        purpose="batch",
        size_bytes=1,
        created_at=now,
        expires_at=now + 86400,
        is_expiry_told=False,
    )
    await documents_in(database).add([document])
    await database.close()


def kill(serve: ServeProcess, chance: random.Random) -> str:
    """Somebody, at once."""
    whom = chance.choice(("worker", "supervisor", "all"))
    pids = [serve.pid_of(f"worker-{number}") for number in range(WORKERS)]
    if whom == "worker":
        pids = [chance.choice(pids)]
    elif whom == "supervisor":
        pids = [serve.process.pid]
    else:
        pids = [serve.process.pid, *pids]
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return whom


def work_off(folder: Path, *, lines: int, kills: int, seed: int, told: Callable[[str], None]) -> Survived:
    """Raises where a line is lost or answered twice, or the books do not say what the answers do."""
    killed: Counter[str] = Counter()
    chance = random.Random(seed)
    asyncio.run(put_input(folder, lines))
    batch: Any = None
    counting = Counting(lines, kills)
    with in_thread(ScriptedEngine(counting, model=MODEL)) as engine:
        while True:
            with serving(folder, engine.url) as serve:
                if batch is None:
                    asked = {"input_file_id": FILE, "endpoint": "/v1/chat/completions", "completion_window": "24h"}
                    batch = post(f"{serve.url}/v1/batches", asked)
                while serve.process.poll() is None:
                    batch = _see(serve, batch["id"], chance, counting.kills_left)
                    if batch["status"] in ENDS:
                        return Survived(lines=lines, killed=killed, records=check(folder, batch, lines, told))
                    whom = kill(serve, chance)
                    counting.kills_left -= 1
                    killed[whom] += 1
                    counts = batch["request_counts"]
                    told(f"{whom} killed at {counts['completed']} of {counts['total']}, {batch['status']}")
                    if whom != "worker":
                        serve.process.wait(20)


def _see(serve: ServeProcess, id: str, chance: random.Random, left: int) -> Any:
    """Until the next kill is due, or the batch is over."""
    until_s = time.monotonic() + (chance.random() * 1.5 if left else 300.0)
    while True:
        try:
            batch = get(f"{serve.url}/v1/batches/{id}")
        except OSError:  # of a worker that was just killed
            time.sleep(0.1)
            continue
        if batch["status"] in ENDS or time.monotonic() >= until_s:
            return batch
        time.sleep(0.05)


def check(folder: Path, batch: Any, lines: int, told: Callable[[str], None]) -> int:
    """Each line once, in order, and the books have what its answer says; how many records they have."""
    assert (batch["status"], "error_file_id" in batch) == ("completed", False), batch
    state = folder / "state" / "heterodyne"
    output = [json.loads(one) for one in (state / "files" / batch["output_file_id"]).read_text().splitlines()]
    assert [one["custom_id"] for one in output] == [f"r-{number}" for number in range(lines)]
    answers = [one["response"]["body"] for one in output]
    assert [one["choices"][0]["message"]["content"] for one in answers] == [f"re {n}" for n in range(lines)]
    ids = Counter(one["response"]["request_id"] for one in output)
    assert len(ids) == lines, "no answer stands for two lines"
    wanted = {one["response"]["request_id"]: one["response"]["body"]["usage"]["completion_tokens"] for one in output}
    until_s = time.monotonic() + COLLECT_S
    while True:
        found = records(state / "heterodyne.db")
        paid = {id: one.completion_tokens for id, one in found.items() if one.completion_tokens}
        if paid.keys() >= wanted.keys() or time.monotonic() > until_s:
            break
        time.sleep(0.5)
    told(f"{len(found)} records, {len(paid)} with tokens, {len(paid.keys() - wanted.keys())} beside the output")
    wrong = [found.get(id, id) for id in paid.keys() | wanted.keys() if paid.get(id) != wanted.get(id)]
    assert not wrong, f"what is in the output is paid once, and nothing else is: {wrong}"
    assert batch["usage"]["output_tokens"] == sum(wanted.values())
    return len(found)


def records(file: Path) -> dict[str, UsageRecord]:
    """By request, all that the books have."""
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=5)) as database:
        blocks = database.execute("SELECT content FROM usage_block").fetchall()
    found = [record for (block,) in blocks for record in RecordBlock.read(block)]
    by_id = {record.id: record for record in found}
    assert len(by_id) == len(found), "each once"
    return by_id
