"""Tenants as an operator sees them now: from the real stores, counters and views of workers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from heterodyne.console.tenants_now.service import TenantsQuery
from heterodyne.control.replica_seen import FleetSeen
from heterodyne.domain.tenant import Limits
from heterodyne.domain.urgency import Tier
from heterodyne.ports.leases import LeaseCall, Want
from heterodyne.ports.tenant_changes import OrganisationDraft, OrganisationEdit, ProjectDraft
from heterodyne.ports.tenants import TenantStore
from heterodyne.routing.health.snapshot import FleetHealthSnapshot
from heterodyne.stores.leases.memory import MemoryLeases
from heterodyne.stores.sqlite.database import SqliteDatabase
from heterodyne.stores.sqlite.tenants import SqliteTenants
from heterodyne.supervisor.services.tenant_usage_reader import TenantUsageReader
from heterodyne.supervisor.workers.view import WorkerView
from tests.support.inline_books import InlineBooks
from tests.support.usage_records import record

NOW = 1_793_534_400.0 + 600.0  # 2026-11-01 12:10 UTC
MINUTE = int(NOW) // 60 * 60
WHO = "test"


class Scene:
    """A store with two organisations, books, and counters that a worker has leased from."""

    def __init__(self, tenants: TenantStore) -> None:
        self.tenants = tenants
        self.books = InlineBooks()
        self.leases = MemoryLeases(clock=lambda: NOW)
        self.views: list[WorkerView] = []
        self.now = TenantUsageReader(tenants, self.books, self.leases, lambda: self.views, clock=lambda: NOW)


@asynccontextmanager
async def open_scene(folder: Path) -> AsyncIterator[Scene]:
    database = await SqliteDatabase.open(folder / "tenants.db")
    tenants = SqliteTenants(database)
    for draft in (OrganisationDraft(id="acme", limits=Limits(usd_per_month=10.0)), OrganisationDraft(id="zeta")):
        await tenants.create_organisation(draft, who=WHO)
    limits = Limits(tokens_per_minute=1000, concurrent_requests=4)
    await tenants.create_project(ProjectDraft(id="acme/search", tier=Tier.GOLD, weight=2.0, limits=limits), who=WHO)
    await tenants.create_project(ProjectDraft(id="acme/quiet"), who=WHO)
    await tenants.create_project(ProjectDraft(id="zeta/chat"), who=WHO)
    made = Scene(tenants)
    yield made
    made.books.close()
    await database.close()


def view(**queued: int) -> WorkerView:
    return WorkerView(
        name="worker-0",
        pid=1,
        version=1,
        at_s=0.0,
        fleet=FleetSeen(version=1, interval_s=1.0, replicas=()),
        health=FleetHealthSnapshot(models=(), replicas=(), ejections_refused={}),
        in_flight=0,
        in_flight_by_replica={},
        queued_by_project={name.replace("_", "/"): count for name, count in queued.items()},
    )


async def lease(leases: MemoryLeases, counter: str, window: int, limit: int, amount: int) -> None:
    want = Want(counter=counter, window=window, ends_s=NOW + 1e6, limit=limit, at_least=amount, wanted=amount)
    await leases.exchange(LeaseCall(holder=counter, sequence=1, groups=((want,),)))


async def test_use_of_today_is_that_of_the_books_with_the_most_dollars_first(tmp_path: Path) -> None:
    async with open_scene(tmp_path) as here:
        await here.books.add([record(one, usd_micro=100) for one in range(3)])
        await here.books.add([record(9, organisation="zeta", project="zeta/chat", usd_micro=500, reason="shed")])
        await here.books.add([record(10, at=NOW - 86_400, usd_micro=9_000)])
        page = await here.now.tenants_now(TenantsQuery())
        assert page.day == "2026-11-01"
        assert (page.projects, page.is_cut) == (3, False)
        assert [one.project for one in page.tenants] == ["zeta/chat", "acme/search", "acme/quiet"]
        chat, search, quiet = page.tenants
        assert (search.requests, search.prompt_tokens, search.completion_tokens) == (3, 300, 21)
        assert search.usd == pytest.approx(300e-6)
        assert (search.tier, search.weight, search.organisation) == (Tier.GOLD, 2.0, "acme")
        assert (chat.requests, chat.errors) == (1, 1)
        assert (quiet.requests, quiet.usd) == (0, 0.0)


async def test_limits_show_what_is_lent_and_used_in_the_window_that_runs(tmp_path: Path) -> None:
    async with open_scene(tmp_path) as here:
        await lease(here.leases, "project:acme/search tokens_per_minute", MINUTE, 1000, 250)
        await lease(here.leases, "project:acme/search tokens_per_minute x", MINUTE - 60, 1000, 700)
        await lease(here.leases, "project:acme/search concurrent_requests", 0, 4, 3)
        month = 1_793_491_200  # 2026-11-01
        await lease(here.leases, "organisation:acme usd_per_month", month, 10_000_000, 2_500_000)
        [row] = (await here.now.tenants_now(TenantsQuery(search="acme/search"))).tenants
        assert [(one.level, one.limit_name, one.limit, one.used) for one in row.limits] == [
            ("project:acme/search", "concurrent_requests", 4, 3),
            ("project:acme/search", "tokens_per_minute", 1000, 250),
            ("organisation:acme", "usd_per_month", 10.0, 2.5),
        ]
        assert [one.resets_at for one in row.limits] == [None, MINUTE + 60, 1_796_083_200.0]


async def test_the_most_used_limits_are_told_whoever_has_them(tmp_path: Path) -> None:
    async with open_scene(tmp_path) as here:
        await lease(here.leases, "project:acme/search tokens_per_minute", MINUTE, 1000, 900)
        uses = await here.now.limit_use(top=2)
        assert [(one.level, one.limit_name, one.used) for one in uses] == [
            ("project:acme/search", "tokens_per_minute", 900),
            ("organisation:acme", "usd_per_month", 0.0),
        ]


async def test_refusals_of_the_last_hour_are_counted_by_reason(tmp_path: Path) -> None:
    async with open_scene(tmp_path) as here:
        refused = {"reason": "rate_limit_exceeded", "status": 429, "pool": "", "replica": ""}
        await here.books.add([record(one, **refused) for one in range(3)])
        await here.books.add([record(4, **{**refused, "reason": "queue_full"})])
        await here.books.add([record(5, at=NOW - 3601, **refused)])
        await here.books.add([record(6, reason="engine_broke", replica="h100-0")])
        [row] = (await here.now.tenants_now(TenantsQuery(search="acme/search"))).tenants
        assert row.refused == {"rate_limit_exceeded": 3, "queue_full": 1}


async def test_the_queue_is_what_all_workers_have_waiting(tmp_path: Path) -> None:
    async with open_scene(tmp_path) as here:
        here.views = [view(acme_search=3, zeta_chat=1), view(acme_search=4)]
        rows = {one.project: one.queued for one in (await here.now.tenants_now(TenantsQuery())).tenants}
        assert rows == {"acme/search": 7, "acme/quiet": 0, "zeta/chat": 1}


async def test_callers_without_a_project_are_shown_when_they_used_something(tmp_path: Path) -> None:
    async with open_scene(tmp_path) as here:
        await here.books.add([record(1, organisation="local", project="local/local", usd_micro=7)])
        page = await here.now.tenants_now(TenantsQuery(limit=1))
        assert [one.project for one in page.tenants] == ["local/local"]
        assert page.tenants[0].limits == ()
        assert (page.projects, page.is_cut) == (4, True)


async def test_whoever_is_disabled_with_its_organisation_shows_so(tmp_path: Path) -> None:
    async with open_scene(tmp_path) as here:
        await here.tenants.update_organisation(OrganisationEdit(id="acme", is_disabled=True), who=WHO)
        rows = (await here.now.tenants_now(TenantsQuery())).tenants
        assert {one.project: one.is_disabled for one in rows} == {
            "acme/search": True,
            "acme/quiet": True,
            "zeta/chat": False,
        }


async def test_everybody_is_listed_however_many_there_are(tmp_path: Path) -> None:
    async with open_scene(tmp_path) as here:
        for number in range(1100):
            await here.tenants.create_project(ProjectDraft(id=f"zeta/p{number}"), who=WHO)
        page = await here.now.tenants_now(TenantsQuery(limit=500))
        assert (page.projects, len(page.tenants), page.is_cut) == (1103, 500, True)
        assert len((await here.now.tenants_now(TenantsQuery(limit=500, search="zeta/p1099"))).tenants) == 1
