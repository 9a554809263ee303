"""`heterodyne usage`, from a running admin API and from the database itself."""

import asyncio
import csv
import io
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result
from starlette.applications import Starlette

from heterodyne.admission.host_names import HostNames
from heterodyne.cli.admin_client import AdminUnreachable
from heterodyne.cli.usage.command import usage
from heterodyne.console.access.operators import Operators
from heterodyne.console.guard import Guard
from heterodyne.console.server import AdminServer
from heterodyne.console.usage.routes import usage_routes
from heterodyne.domain.errors import InvalidField, StoreInvalid
from heterodyne.domain.usage import Uptime
from heterodyne.stores.sqlite.books import SqliteBooks
from heterodyne.stores.sqlite.database import SqliteDatabase
from tests.support.inline_books import InlineBooks
from tests.support.usage_records import record

SINCE = ("--since", "2026-11-01")
RECORDS = [record(number, model="a" if number < 3 else "b", usd_micro=1_250_000, replica_s=0.5) for number in range(5)]
UPTIME = Uptime(day="2026-11-01", pool="h100", hardware="", source="s", up_us=7_200_000_000, usd_micro=10_000_000)


@asynccontextmanager
async def admin() -> AsyncIterator[str]:
    """An admin API with some usage; its URL."""
    store = InlineBooks()
    await store.add(RECORDS)
    await store.add_uptime([UPTIME])
    guard = Guard(Operators(()), HostNames(("127.0.0.1",), has_keys=False))
    app = Starlette(routes=[route.starlette() for route in usage_routes(guard, store)])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = AdminServer(app, listener, guard)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(server.run())
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
            server.leave()
    store.close()


async def run(*words: str) -> Result:
    return await asyncio.to_thread(CliRunner().invoke, usage, words)


async def test_usage_in_every_form() -> None:
    async with admin() as url:
        table = await run("--by", "model,day", *SINCE, "--url", url)
        sheet = await run("--by", "model", *SINCE, "--model", "b", "--format", "csv", "--url", url)
        data = await run("--by", "", *SINCE, "--format", "json", "--url", url)
    assert table.exit_code == 0, table.output
    head, first, second = table.stdout.splitlines()
    assert head.split()[:4] == ["model", "day", "requests", "errors"]
    assert first.split()[:3] == ["a", "2026-11-01", "3"]
    assert second.split()[-2] == "2.500000"
    (row,) = csv.DictReader(io.StringIO(sheet.stdout))
    assert (row["model"], row["requests"], row["completion_tokens"], row["usd"]) == ("b", "2", "14", "2.500000")
    assert msgspec.json.decode(data.stdout)["rows"][0]["usd_micro"] == 6_250_000


async def test_idle_cost_is_shown_apart() -> None:
    async with admin() as url:
        said = await run("idle", *SINCE, "--format", "csv", "--url", url)
    (row,) = csv.DictReader(io.StringIO(said.stdout))
    assert (row["up_hours"], row["paid_usd"], row["busy_usd"], row["idle_usd"]) == (
        *("2.00", "10.000000", "6.250000", "3.750000"),
    )


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
async def test_export_writes_every_request(tmp_path: Path, kind: str) -> None:
    out = tmp_path / f"usage.{kind}"
    async with admin() as url:
        said = await run("export", "--format", kind, "--out", str(out), *SINCE, "--until", "2026-11-02", "--url", url)
        empty = await run("export", "--format", "jsonl", "--since", "2027-01-01", "--url", url)
    assert said.exit_code == 0, said.output
    assert "5 requests" in said.stderr
    assert [path.name for path in tmp_path.iterdir()] == [out.name]
    if kind != "parquet":
        assert [f"req_{number:04d}" in out.read_text() for number in range(5)] == [True] * 5
    assert (empty.exit_code, empty.stdout) == (0, "")


async def test_words_that_are_wrong_are_named() -> None:
    assert isinstance((await run("--by", "colour")).exception, InvalidField)
    assert isinstance((await run("--since", "yesterday")).exception, InvalidField)
    assert "--out" in (await run("export", "--format", "parquet")).output


async def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    said = await run("--store", f"sqlite:{tmp_path}/none.db")
    assert isinstance(said.exception, StoreInvalid)
    assert list(tmp_path.iterdir()) == []


async def test_the_database_answers_when_no_gateway_runs(tmp_path: Path) -> None:
    database = await SqliteDatabase.open(tmp_path / "heterodyne.db")
    await SqliteBooks(database).add(RECORDS)
    await database.close()
    said = await run("--by", "model", *SINCE, "--format", "csv", "--store", f"sqlite:{tmp_path}/heterodyne.db")
    assert said.exit_code == 0, said.output
    assert [row["requests"] for row in csv.DictReader(io.StringIO(said.stdout))] == ["3", "2"]


async def test_without_a_gateway_the_store_of_the_settings_is_read_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in (usage, *usage.commands.values()):
        for option in command.params:
            if option.name == "url":
                monkeypatch.setattr(option, "default", "http://127.0.0.1:1")  # where nobody listens
    database = await SqliteDatabase.open(tmp_path / "set.db")
    await SqliteBooks(database).add(RECORDS)
    await database.close()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HETERODYNE_CONFIG", raising=False)
    monkeypatch.setenv("HETERODYNE_STORES__URL", f"sqlite:{tmp_path}/set.db")
    monkeypatch.setattr("heterodyne.cli.usage.command.PAGE", 2)
    said = await run("--by", "model", *SINCE, "--format", "csv")
    exported = await run("export", "--format", "jsonl", *SINCE)
    assert [row["requests"] for row in csv.DictReader(io.StringIO(said.stdout))] == ["3", "2"]
    assert len(exported.stdout.splitlines()) == 5
    for one in (said, exported):
        assert one.stderr.count("reading the store itself") == 1


async def test_an_address_that_was_named_is_not_replaced_by_the_store() -> None:
    said = await run(*SINCE, "--url", "http://127.0.0.1:1")
    assert isinstance(said.exception, AdminUnreachable)
