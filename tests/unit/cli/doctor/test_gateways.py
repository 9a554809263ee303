"""What the doctor says of gateways over one fleet, by what they leave in a real Redis and a real database."""

import asyncio
from pathlib import Path

import pytest

from heterodyne.cli.doctor.finding import FindingState
from heterodyne.cli.doctor.gateways import gateways
from heterodyne.config.settings import Settings
from heterodyne.stores.redis.reports import GATEWAYS, RedisReports
from heterodyne.stores.settings import StoreSettings
from heterodyne.stores.sqlite.database import SqliteDatabase
from heterodyne.stores.sqlite.documents import SqliteDocuments
from heterodyne.supervisor.gateways.gateway_report import GatewayReport
from heterodyne.supervisor.gateways.gateway_watch import GatewayWatch
from heterodyne.supervisor.leader.leader_watch import LeaderWatch
from tests.support.redis_server import RedisServer


async def report(redis: RedisServer, path: Path, *names: str) -> None:
    """Gateways of these names share the database: each looks who leads, and tells the others."""
    database = await SqliteDatabase.open(path)
    try:
        for name in names:
            leader = LeaderWatch(SqliteDocuments(database), name)
            await leader.look()
            store = RedisReports(redis.url, prefix=GATEWAYS)
            watch = GatewayWatch(store, sender=name)
            told = GatewayReport(gateway=f"{name}:8080", term=leader.fence())
            watch.compose = lambda told=told: told  # type: ignore[misc]
            await watch.turn()
            await store.close()
    finally:
        await database.close()


def found(redis: RedisServer, path: Path) -> list[tuple[FindingState, str]]:
    settings = Settings(stores=StoreSettings(url=f"sqlite:{path}", fleet_url=redis.url))
    return [(one.state, one.value) for one in gateways(settings)]


def test_gateways_of_one_database_have_one_leader(tmp_path: Path) -> None:
    with RedisServer() as redis:
        assert found(redis, tmp_path / "a.db") == []
        asyncio.run(report(redis, tmp_path / "a.db", "a", "b"))
        good = "2 gateways heard of; they share the database of stores.url, where a:8080 leads"
        assert found(redis, tmp_path / "a.db") == [(FindingState.GOOD, good)]
        asyncio.run(report(redis, tmp_path / "a.db", "a", "b"))
        other = "2 gateways heard of, and a:8080 leads in another database than stores.url here"
        assert found(redis, tmp_path / "new.db") == [(FindingState.WARNING, other)]
        assert not (tmp_path / "new.db").exists()


def test_a_second_leader_is_of_a_second_database(tmp_path: Path) -> None:
    with RedisServer() as redis:
        asyncio.run(report(redis, tmp_path / "a.db", "a", "b"))
        asyncio.run(report(redis, tmp_path / "c.db", "c"))
        [(state, value)] = found(redis, tmp_path / "a.db")
        assert state is FindingState.WARNING
        assert value == "3 gateways heard of, and a:8080, c:8080 lead at once: each in a database of its own"


def test_where_none_leads_nothing_can_be_told(tmp_path: Path) -> None:
    with RedisServer() as redis:
        store = RedisReports(redis.url, prefix=GATEWAYS)

        async def tell() -> None:
            await GatewayWatch(store, sender="a").turn()
            await store.close()

        asyncio.run(tell())
        [(state, value)] = found(redis, tmp_path / "a.db")
        assert (state, value.split(":")[0]) == (FindingState.NOTE, "1 gateway heard of, and none leads now")


@pytest.mark.parametrize("fleet_url", [None, "redis://127.0.0.1:9/0"])
def test_nothing_is_said_where_nobody_can_be_heard(fleet_url: str | None) -> None:
    assert list(gateways(Settings(stores=StoreSettings(fleet_url=fleet_url)))) == []
