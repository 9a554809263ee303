"""The leader's lease in a real database: one of several leads, another takes over, and a store that is away ends it."""

from pathlib import Path

import pytest

from heterodyne.domain.errors import StoreUnavailable
from heterodyne.ports.document_store import DocumentStore
from heterodyne.supervisor.leader.leader_watch import LeaderWatch
from heterodyne.supervisor.leader.lease_rule import LEADS_S, LEASE_S, RENEW_S, TAKEOVER_S
from tests.support.document_stores import DATABASES, Opened, documents_of
from tests.support.postgres_server import postgres_url  # noqa: F401  # a fixture


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture(params=DATABASES)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    return documents_of(request, tmp_path)


async def test_one_leads_and_another_takes_over_in_time_when_it_is_killed(opened: Opened) -> None:
    async with opened() as store:
        clock = Clock()
        first, second = (LeaderWatch(store, name, clock=clock) for name in ("first", "second"))
        for _ in range(20):
            for watch in (first, second):
                await watch.look()
            clock.now_s += RENEW_S
            assert (first.fence(), second.fence()) == (1, None)
        killed_at_s = clock.now_s
        while not second.is_leader:
            clock.now_s += RENEW_S
            assert not (first.is_leader and second.is_leader)
            await second.look()
        assert clock.now_s - killed_at_s <= TAKEOVER_S < 10.0
        assert (first.fence(), second.fence()) == (None, 2)
        await first.look()
        assert first.fence() is None, "it was not killed after all, and follows"


async def test_a_leader_that_ends_gives_the_lease_back(opened: Opened) -> None:
    async with opened() as store:
        clock = Clock()
        first, second = (LeaderWatch(store, name, clock=clock) for name in ("first", "second"))
        await first.look()
        await second.look()
        await first._give_back()
        await second.look()
        assert (first.fence(), second.fence()) == (None, 2)


async def test_the_same_file_after_a_restart_has_a_new_leader_as_soon_as_the_old_lease_is_over(
    opened: Opened,
) -> None:
    async with opened() as store:
        clock = Clock()
        before = LeaderWatch(store, "before", clock=clock)
        await before.look()
        after = LeaderWatch(store, "after", clock=clock)
        await after.look()
        assert not after.is_leader
        clock.now_s += LEASE_S
        await after.look()
        assert after.fence() == 2


async def test_a_store_that_is_away_ends_leadership_by_itself(opened: Opened) -> None:
    async with opened() as store:
        clock = Clock()
        watch = LeaderWatch(Moody(store), "me", clock=clock)  # type: ignore[arg-type]
        await watch.look()
        assert watch.is_leader
        Moody.is_away = True
        try:
            with pytest.raises(StoreUnavailable):
                await watch.look()
        finally:
            Moody.is_away = False
        clock.now_s += LEADS_S
        assert not watch.is_leader
        await watch.look()
        assert watch.fence() == 1, "nobody else took it meanwhile"


class Moody:
    """The store, or nobody."""

    is_away = False

    def __init__(self, store: DocumentStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> object:
        if Moody.is_away:
            raise StoreUnavailable("away")
        return getattr(self._store, name)
