"""What every store knows of guards, caches and cascades, asked of SQLite and of a real PostgreSQL."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from msgspec import structs

from heterodyne.domain.cache_drop import CacheDrop
from heterodyne.domain.guard_hit import GuardHit, GuardHitQuery
from heterodyne.domain.guard_verdict import GuardVerdict
from heterodyne.domain.policy_count import PolicyCount
from heterodyne.ports.policy_store import PolicyStore
from heterodyne.stores.open_store import policies_in
from heterodyne.stores.postgres.database import PostgresDatabase
from heterodyne.stores.sql.policies.scripts import DROPS_MAX
from heterodyne.stores.sqlite.database import SqliteDatabase
from tests.support.postgres_server import postgres_url  # noqa: F401  # a fixture

Opened = Callable[[], AbstractAsyncContextManager[PolicyStore]]
HITS, SAVED = ("answers", ("kept", "m\x00ö", "hit")), ("saved", ("kept", "m"))
EVER = GuardHitQuery(since_at=0.0, until_at=1e9)


@pytest.fixture(params=["sqlite", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    @asynccontextmanager
    async def store() -> AsyncIterator[PolicyStore]:
        database: SqliteDatabase | PostgresDatabase
        if request.param == "sqlite":
            database = await SqliteDatabase.open(tmp_path / "policies.sqlite")
        else:
            database = await PostgresDatabase.open(request.getfixturevalue("postgres_url"))
        yield policies_in(database)
        await database.close()

    return store


def hit(number: int, **changes: str) -> GuardHit:
    fields = {"policy": "private", "guard": "pii", "version": "1", "rule": "email", "action": "mask"} | changes
    verdict = GuardVerdict(direction="input", where="messages[0].content", start=3, end=9, score=0.5, **fields)
    return GuardHit(
        id=f"life-{number}", at=100.0 + number, request=f"req_{number}", project="acme/a", model="m", verdict=verdict
    )


async def test_counts_of_a_minute_grow_and_are_added_up_over_a_span(opened: Opened) -> None:
    async with opened() as store:
        await store.add_counts(60, [PolicyCount(*HITS, 2.0), PolicyCount(*SAVED, 0.25)])
        await store.add_counts(60, [PolicyCount(*HITS, 1.0)])
        await store.add_counts(120, [PolicyCount(*HITS, 4.0)])
    async with opened() as again:
        assert await again.counts(0.0, 121.0) == (PolicyCount(*HITS, 7.0), PolicyCount(*SAVED, 0.25))
        assert await again.counts(60.0, 120.0) == (PolicyCount(*HITS, 3.0), PolicyCount(*SAVED, 0.25))
        assert await again.counts(61.0, 120.0) == ()


async def test_findings_are_found_by_what_they_are_the_newest_first(opened: Opened) -> None:
    async with opened() as store:
        one, two, three = hit(1), hit(2, rule="iban", action="block"), hit(3, policy="other")
        await store.add_hits([one, two])
        await store.add_hits([two, three])
        assert await store.hits(EVER) == (three, two, one)
        assert await store.hits(structs.replace(EVER, limit=1)) == (three,)
        assert await store.hits(structs.replace(EVER, policy="private", until_at=102.0)) == (one,)
        assert await store.hits(structs.replace(EVER, action="block")) == (two,)
        assert await store.hits(structs.replace(EVER, rule="iban", project="acme/a")) == (two,)
        assert await store.hits(structs.replace(EVER, project="acme/b")) == ()
        assert await store.hits(structs.replace(EVER, request="req_2")) == (two,)


async def test_of_drops_the_latest_of_each_kind_stays_for_as_long_as_it_may_matter(opened: Opened) -> None:
    async with opened() as store:
        first, other = CacheDrop(at=10.0, tag="faq"), CacheDrop(at=11.0, model="m", project="acme/a")
        await store.add_drop(first, 100.0)
        await store.add_drop(other, 50.0)
        assert await store.drops(20.0) == (first, other)
        again = CacheDrop(at=30.0, tag="faq")
        await store.add_drop(again, 130.0)
        await store.add_drop(first, 100.0)
        assert await store.drops(31.0) == (other, again)
        assert await store.drops(60.0) == (again,)


async def test_too_many_drops_become_one_of_everything(opened: Opened) -> None:
    async with opened() as store:
        for number in range(DROPS_MAX):
            await store.add_drop(CacheDrop(at=float(number), tag=f"t{number}"), 1e6 + number)
        assert len(await store.drops(0.0)) == DROPS_MAX
        await store.add_drop(CacheDrop(at=5000.0, tag="one more"), 9000.0)
        assert await store.drops(1e6) == (CacheDrop(at=5000.0),)


async def test_what_is_old_and_what_is_too_much_goes(opened: Opened) -> None:
    async with opened() as store:
        await store.add_counts(60, [PolicyCount(*HITS, 2.0)])
        await store.add_counts(180, [PolicyCount(*HITS, 1.0)])
        await store.add_hits([hit(number) for number in range(10)])
        assert await store.forget(103.0, 2, hits_max=100) == 3
        assert await store.forget(103.0, 10, hits_max=100) == 2
        assert await store.counts(0.0, 1e6) == (PolicyCount(*HITS, 1.0),)
        assert [one.at for one in await store.hits(EVER)] == [float(at) for at in range(109, 103, -1)]
        await store.forget(0.0, 100, hits_max=2)
        assert [one.at for one in await store.hits(EVER)] == [109.0, 108.0]
