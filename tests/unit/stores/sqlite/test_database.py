"""One SQLite file: what it takes, what it refuses, and what is still there afterwards."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from heterodyne.domain.errors import StoreInvalid, StoreUnavailable
from heterodyne.stores.sql.migration import Migration
from heterodyne.stores.sqlite import database, writer
from heterodyne.stores.sqlite.database import SqliteDatabase

NUMBERS = (
    Migration(number=1, name="numbers", sqlite=("CREATE TABLE numbers (n INTEGER PRIMARY KEY) STRICT",), postgres=()),
)


def add(number: int):  # type: ignore[no-untyped-def]
    return lambda connection: connection.execute("INSERT INTO numbers VALUES (?)", (number,)).rowcount


def count(connection: sqlite3.Connection) -> int:
    [(found,)] = connection.execute("SELECT count(*) FROM numbers").fetchall()
    return int(found)


async def test_many_writes_are_committed_together_and_all_are_there(tmp_path: Path) -> None:
    opened = await SqliteDatabase.open(tmp_path / "a.db", NUMBERS)
    commits: list[int] = []
    await opened.write(lambda connection: connection.set_trace_callback(_count_commits(commits)))
    await asyncio.gather(*(opened.write(add(n)) for n in range(1000)))
    assert await opened.read(count) == 1000
    await opened.close()
    assert len(commits) < 100, "a disk that syncs once for each would be the bottleneck"


async def test_work_that_raises_undoes_itself_and_nobody_else(tmp_path: Path) -> None:
    opened = await SqliteDatabase.open(tmp_path / "a.db", NUMBERS)

    def add_and_fail(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO numbers VALUES (99)")
        raise KeyError("ours")

    outcomes = await asyncio.gather(
        opened.write(add(1)),
        opened.write(add_and_fail),
        opened.write(add(1)),
        opened.write(lambda connection: connection.execute("SELECT * FROM nowhere")),
        opened.write(add(2)),
        return_exceptions=True,
    )
    kinds = [type(outcome) for outcome in outcomes]
    assert kinds == [int, KeyError, sqlite3.IntegrityError, StoreUnavailable, int]
    assert await opened.read(count) == 2
    await opened.close()


async def test_work_that_ends_the_transaction_costs_its_batch_and_no_more(tmp_path: Path) -> None:
    opened = await SqliteDatabase.open(tmp_path / "a.db", NUMBERS)
    with pytest.raises(StoreUnavailable):
        await opened.write(lambda connection: connection.execute("ROLLBACK"))
    assert await opened.write(add(1)) == 1
    await opened.close()


async def test_what_was_taken_is_written_before_it_closes(tmp_path: Path) -> None:
    opened = await SqliteDatabase.open(tmp_path / "a.db", NUMBERS)
    writes = [asyncio.ensure_future(opened.write(add(n))) for n in range(200)]
    await asyncio.sleep(0)
    await opened.close()
    assert await asyncio.gather(*writes) == [1] * 200
    with pytest.raises(StoreUnavailable, match="closed"):
        await opened.write(add(1000))
    await opened.close()


async def test_more_writes_than_may_wait_are_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "WAITING_MAX", 3)
    opened = await SqliteDatabase.open(tmp_path / "a.db", NUMBERS)
    go, begun = threading.Event(), threading.Event()

    def slow(_: sqlite3.Connection) -> bool:
        begun.set()
        return go.wait(10)

    first = asyncio.ensure_future(opened.write(slow))
    await asyncio.to_thread(begun.wait, 10)
    waiting = [asyncio.ensure_future(opened.write(add(n))) for n in range(3)]
    await asyncio.sleep(0)
    with pytest.raises(StoreUnavailable, match="3 writes wait"):
        await opened.write(add(9))
    go.set()
    assert await asyncio.gather(first, *waiting) == [True, 1, 1, 1]
    await opened.close()


async def test_a_write_nobody_waits_for_any_more_is_not_begun(tmp_path: Path) -> None:
    opened = await SqliteDatabase.open(tmp_path / "a.db", NUMBERS)
    go, begun = threading.Event(), threading.Event()
    slow = asyncio.ensure_future(opened.write(lambda _: begun.set() or go.wait(10)))
    await asyncio.to_thread(begun.wait, 10)
    with pytest.raises(StoreUnavailable, match="took no write within"):
        await opened.write(add(1), timeout_s=0.01)
    go.set()
    assert await slow
    assert await opened.read(count) == 0
    await opened.close()


async def test_readers_see_the_last_commit_while_a_batch_is_written(tmp_path: Path) -> None:
    opened = await SqliteDatabase.open(tmp_path / "a.db", NUMBERS)
    await opened.write(add(1))
    go, begun = threading.Event(), threading.Event()

    def half(connection: sqlite3.Connection) -> bool:
        connection.execute("INSERT INTO numbers VALUES (2)")
        begun.set()
        return go.wait(10)

    writing = asyncio.ensure_future(opened.write(half))
    await asyncio.to_thread(begun.wait, 10)
    assert await opened.read(count) == 1
    go.set()
    await writing
    assert await opened.read(count) == 2
    await opened.close()


async def test_a_reader_cannot_write(tmp_path: Path) -> None:
    opened = await SqliteDatabase.open(tmp_path / "a.db", NUMBERS)
    with pytest.raises(StoreUnavailable, match="readonly"):
        await opened.read(add(1))
    assert await opened.read(count) == 0
    await opened.close()


async def test_a_query_that_takes_too_long_is_broken_off_and_its_reader_is_free_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "READS_MAX", database.READERS)
    opened = await SqliteDatabase.open(tmp_path / "a.db", NUMBERS)
    endless = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT count(*) FROM t"
    both = [
        opened.read(lambda connection: connection.execute(endless).fetchall(), timeout_s=0.05)
        for _ in range(database.READERS)
    ]
    answers = asyncio.gather(*both, return_exceptions=True)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    with pytest.raises(StoreUnavailable, match="are under way"):
        await opened.read(count)
    assert [type(answer) for answer in await answers] == [StoreUnavailable] * database.READERS
    async with asyncio.timeout(30):
        while True:
            try:
                assert await opened.read(count) == 0
            except StoreUnavailable:
                await asyncio.sleep(0.01)
                continue
            break
    await opened.close()


async def test_a_file_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path)) as theirs:
        theirs.execute("CREATE TABLE precious (x)")
    before = path.read_bytes()
    with pytest.raises(StoreInvalid, match="belongs to another program"):
        await SqliteDatabase.open(path)
    assert path.read_bytes() == before


async def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database at all " * 100)
    with pytest.raises(StoreInvalid, match=r"notes\.txt"):
        await SqliteDatabase.open(path)
    assert path.read_text().startswith("not a database")


async def test_a_place_where_no_file_can_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file" / "a.db"):
        with pytest.raises(StoreInvalid, match="cannot open"):
            await SqliteDatabase.open(path)


async def test_only_its_owner_can_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.db"
    opened = await SqliteDatabase.open(path, NUMBERS)
    await opened.write(add(1))
    assert {one.stat().st_mode & 0o077 for one in (path.parent, *path.parent.iterdir())} == {0}
    await opened.close()


async def test_a_shape_that_went_another_way_is_refused(tmp_path: Path) -> None:
    await (await SqliteDatabase.open(tmp_path / "a.db", NUMBERS)).close()
    other = (Migration(number=1, name="letters", sqlite=(), postgres=()),)
    with pytest.raises(StoreInvalid, match='"numbers", and this version "letters"'):
        await SqliteDatabase.open(tmp_path / "a.db", other)


async def test_what_was_answered_survives_kill_9(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    await (await SqliteDatabase.open(path, NUMBERS)).close()
    child = """
import asyncio, sys
from pathlib import Path
from tests.unit.stores.sqlite.test_database import NUMBERS, add
from heterodyne.stores.sqlite.database import SqliteDatabase
async def main():
    database = await SqliteDatabase.open(Path(sys.argv[1]), NUMBERS)
    for n in range(10**9):
        await database.write(add(n))
        print(n, flush=True)
asyncio.run(main())
"""
    process = subprocess.Popen(
        [sys.executable, "-c", child, str(path)], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[4]
    )
    assert process.stdout is not None
    for _ in range(20):
        process.stdout.readline()
    os.kill(process.pid, signal.SIGKILL)
    answered = 20 + len([line for line in process.stdout.read().splitlines() if line])
    process.stdout.close()
    process.wait(10)
    opened = await SqliteDatabase.open(path, NUMBERS)
    assert await opened.read(count) >= answered
    assert await opened.read(lambda connection: connection.execute("PRAGMA integrity_check").fetchall()) == [("ok",)]
    await opened.close()


def _count_commits(commits: list[int]):  # type: ignore[no-untyped-def]
    return lambda statement: commits.append(1) if statement == "COMMIT" else None
