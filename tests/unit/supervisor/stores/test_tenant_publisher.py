"""Tenants on their way from the store to the workers."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from msgspec import structs

from heterodyne.domain.errors import StoreUnavailable
from heterodyne.domain.tenant import Organisation, TenantSnapshot
from heterodyne.ports.tenant_changes import TenantChange, TenantChangeKind
from heterodyne.supervisor.stores import tenant_publisher
from heterodyne.supervisor.stores.tenant_publisher import TenantPublisher

BEFORE = TenantSnapshot(version=1, has_keys=True)
AFTER = structs.replace(BEFORE, version=2)
CHANGE = TenantChange(
    version=2,
    at=1.0,
    who="key 01234567",
    kind=TenantChangeKind.ORGANISATION_CREATED,
    subject="acme",
    after=Organisation(id="acme"),
)


class Store:
    """Has a snapshot, and tells of changes; of `ports.tenants.TenantStore` what a publisher needs."""

    def __init__(self, stored: TenantSnapshot) -> None:
        self.stored = stored
        self.is_away = False

    async def snapshot(self) -> TenantSnapshot:
        if self.is_away:
            raise StoreUnavailable("away")
        return self.stored

    async def changes(self, _: int) -> AsyncIterator[int]:
        yield self.stored.version
        await asyncio.Event().wait()


class Workers:
    """Take what is published, or are late."""

    def __init__(self, *, late: int = 0) -> None:
        self.taken: list[int] = []
        self._late = late

    async def publish(self, snapshot: TenantSnapshot) -> bool:
        self.taken.append(snapshot.version)
        return len(self.taken) > self._late


def publisher(store: Store, workers: Workers) -> TenantPublisher:
    return TenantPublisher(store, BEFORE, workers.publish)  # type: ignore[arg-type]  # a part of a store


async def test_a_change_goes_to_the_workers_once() -> None:
    workers, store = Workers(), Store(AFTER)
    published = publisher(store, workers)
    assert await published.on_change(CHANGE)
    assert await published.on_change(CHANGE)
    assert (workers.taken, published.snapshot) == ([2], AFTER)


async def test_a_late_worker_is_given_the_same_again() -> None:
    workers, store = Workers(late=1), Store(AFTER)
    published = publisher(store, workers)
    assert not await published.on_change(CHANGE)
    assert await published.on_change(CHANGE)
    assert workers.taken == [2, 2]


async def test_a_store_that_is_away_leaves_the_last_snapshot() -> None:
    workers, store = Workers(), Store(AFTER)
    published, store.is_away = publisher(store, workers), True
    assert not await published.on_change(CHANGE)
    assert (workers.taken, published.snapshot) == ([], BEFORE)


async def test_a_database_that_lost_its_keys_opens_no_gateway() -> None:
    workers = Workers()
    published = publisher(Store(TenantSnapshot(version=2)), workers)
    assert not await published.on_change(CHANGE)
    assert (workers.taken, published.snapshot) == ([], BEFORE)


async def test_changes_made_elsewhere_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenant_publisher, "RETRY_S", 0.001)
    workers, store = Workers(late=2), Store(AFTER)
    following = asyncio.create_task(publisher(store, workers).follow())
    async with asyncio.timeout(30):
        while len(workers.taken) < 3:
            await asyncio.sleep(0.001)
    following.cancel()
    assert workers.taken == [2, 2, 2]
