"""The stores as the supervisor uses them: changes audited, usage collected, hours counted, reloads by signal."""

import asyncio
import stat
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from heterodyne.assembly.stores import open_supervisor_stores
from heterodyne.assembly.supervisor import StoreParts, build_store_parts
from heterodyne.audit.key import open_key
from heterodyne.audit.search import AuditQuery, search
from heterodyne.audit.settings import AuditSettings
from heterodyne.books.encoding import encode_finished, encode_opening
from heterodyne.books.segment import READY, write_segment
from heterodyne.books.settings import BookSettings
from heterodyne.config.settings import Settings
from heterodyne.console.fleet.forms import ReloadOrder
from heterodyne.console.fleet.pages import FleetPage, Reloaded
from heterodyne.domain.audit import ChangeEntry
from heterodyne.domain.errors import SettingsInvalid
from heterodyne.domain.fleet import Health
from heterodyne.domain.price import Price
from heterodyne.domain.tenant import TenantSnapshot
from heterodyne.domain.usage import UsageEnding, UsageGroup, UsageOpening, UsageQuery
from heterodyne.ports.document_store import Document
from heterodyne.ports.tenant_changes import OrganisationDraft
from heterodyne.stores.open_store import state_folder
from heterodyne.supervisor.fleet.signal_reload import SIGNAL
from heterodyne.supervisor.run import run_loops
from heterodyne.supervisor.stores.supervisor_stores import SupervisorStores
from heterodyne.supervisor.stores.tenant_publisher import PublishTenants
from heterodyne.telemetry import exposition
from tests.support.admin_fleets import REPLICA, ScriptedFleet

WITHIN_S = 10.0
DOWN = msgspec.structs.replace(REPLICA, id="chat-1", health=Health.DOWN)
HOSTED = msgspec.structs.replace(REPLICA, id="far-0", pool="far", price=Price(usd_per_million_prompt_tokens=1.0))


class Fleet(ScriptedFleet):
    """Has replicas of every kind, and reloads or refuses to."""

    def __init__(self, *, refuses: bool = False) -> None:
        super().__init__()
        self.reloads = 0
        self._refuses = refuses

    def page(self) -> FleetPage:
        return msgspec.structs.replace(super().page(), replicas=(REPLICA, DOWN, HOSTED))

    async def reload(self, order: ReloadOrder) -> Reloaded:
        self.reloads += 1
        if self._refuses:
            raise SettingsInvalid("gateway.port: no number")
        return await super().reload(order)


@pytest.fixture(autouse=True)
def _a_state_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


async def applied(_: TenantSnapshot) -> bool:
    """Every worker works by it."""
    return True


@asynccontextmanager
async def running(
    tmp_path: Path,
    settings: Settings | None = None,
    *,
    fleet: Fleet | None = None,
    publish: PublishTenants = applied,
) -> AsyncIterator[tuple[SupervisorStores, StoreParts]]:
    """The stores, and what works on them, with its loops running."""
    run_dir = tmp_path / "run"
    run_dir.mkdir(exist_ok=True)
    async with open_supervisor_stores(settings or Settings(), run_dir) as stores, asyncio.TaskGroup() as group:
        parts = build_store_parts(stores, fleet or Fleet(), publish, run_dir, tuple)
        looping = group.create_task(run_loops(parts.loops))
        yield stores, parts
        looping.cancel()


@asynccontextmanager
async def opened(tmp_path: Path, settings: Settings | None = None) -> AsyncIterator[SupervisorStores]:
    async with running(tmp_path, settings) as (stores, _):
        yield stores


def changes(tmp_path: Path) -> list[ChangeEntry]:
    found: list[ChangeEntry] = []
    folder = state_folder({"XDG_STATE_HOME": str(tmp_path / "state")}) / "audit"
    key = open_key(folder / "audit.key", may_create=False)
    verdict = search(
        folder,
        key,
        AuditQuery(only_changes=True),
        lambda one: found.append(one.entry),  # type: ignore[arg-type]
    )
    assert verdict.is_intact
    return found


async def spooled(folder: Path) -> None:
    """A request that a worker has written down."""
    opening = UsageOpening(
        id="req_1",
        at=1.7e9,
        organisation="acme",
        project="acme/search",
        key="key_1",
        tier="gold",
        urgency="interactive",
        operation="chat",
        model="chat",
    )
    ending = UsageEnding(status=200, prompt_tokens=5, completion_tokens=7)
    record = encode_finished(encode_opening(opening), ending)
    await asyncio.to_thread(write_segment, folder / f"worker-0.life.1{READY}", [record])


async def test_a_change_of_tenants_is_stored_audited_and_published(tmp_path: Path) -> None:
    versions: list[int] = []

    async def publish(snapshot: TenantSnapshot) -> bool:
        versions.append(snapshot.version)
        assert changes(tmp_path)[0].outcome == "asked", "before workers are told"
        return True

    async with running(tmp_path, publish=publish) as (_, parts):
        done = await parts.services.tenants.create_organisation(OrganisationDraft(id="acme"), "key 01234567")
        assert (done.version, versions) == (1, [1])
    assert [(entry.who, entry.outcome) for entry in changes(tmp_path)] == [
        ("key 01234567", "asked"),
        ("key 01234567", ""),
    ]


async def test_what_workers_spooled_is_in_the_books_when_the_office_has_closed(tmp_path: Path) -> None:
    async with opened(tmp_path) as stores:
        folder = Path(stores.places.books_spool)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert (stores.places.audit_spool, stores.places.audit_key) == ("", ""), "requests are not audited"
    await spooled(folder)
    async with open_supervisor_stores(Settings(), tmp_path / "run"):
        pass  # collected at the end, without its tasks
    async with open_supervisor_stores(Settings(), tmp_path / "run") as stores:
        (row,) = await stores.books.usage(UsageQuery(by=(UsageGroup.PROJECT,)))
        assert (row.group[UsageGroup.PROJECT], row.completion_tokens) == ("acme/search", 7)
    assert list(folder.iterdir()) == []


async def test_usage_is_collected_while_it_runs_and_counted_in_the_metrics(tmp_path: Path) -> None:
    async with opened(tmp_path) as stores:
        await spooled(Path(stores.places.books_spool))
        async with asyncio.timeout(WITHIN_S):
            while (state := stores.collecting()) is None or state.collected != 1:
                await asyncio.sleep(0.02)
            samples = {}
            while samples.get("heterodyne_books_collected_total") != [1.0]:
                await asyncio.sleep(0.02)
                samples = {one.meter: one.values for one in exposition.gather(tmp_path / "run", "worker-0", ())}
        assert samples["heterodyne_audit_writing"] == [1.0]


async def test_without_books_nothing_is_collected_and_usage_can_still_be_asked_for(tmp_path: Path) -> None:
    async with opened(tmp_path, Settings(books=BookSettings(is_on=False))) as stores:
        assert (stores.collecting(), stores.places.books_spool) == (None, "")
        assert (await stores.books.usage(UsageQuery()))[0].requests == 0


async def test_workers_that_audit_get_the_spool_and_a_key_for_content_only(tmp_path: Path) -> None:
    async with opened(tmp_path, Settings(audit=AuditSettings(is_on=True))) as stores:
        folder = Path(stores.places.audit_spool).parent
        key = open_key(folder / "audit.key", may_create=False)
        assert bytes.fromhex(stores.places.audit_key) == key.content.expose()
        assert stores.places.audit_key not in (folder / "audit.key").read_text()
        assert stores.places.audit_key not in repr(stores.places)


async def test_replicas_that_are_up_and_paid_by_the_hour_are_in_the_books(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heterodyne.supervisor.stores.supervisor_books.UPTIME_INTERVAL_S", 0.01)
    async with opened(tmp_path) as stores:
        async with asyncio.timeout(WITHIN_S):
            while not (rows := await stores.books.idle(None, None)):
                await asyncio.sleep(0.02)
        assert [(row.pool, row.hardware) for row in rows] == [("chat", "h100-sxm")]
        assert rows[0].paid_usd_micro == pytest.approx(rows[0].up_us * 3.6 / 3600, abs=1)


async def test_documents_that_have_expired_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heterodyne.supervisor.stores.document_retention.INTERVAL_S", 0.01)
    kept = Document(id="a", project="acme/search", kind="response", created_at=1.0, expires_at=1e12, body=b"{}")
    async with opened(tmp_path) as stores:
        await stores.documents.add([kept, msgspec.structs.replace(kept, id="b", expires_at=2.0)])
        async with asyncio.timeout(WITHIN_S):
            while await stores.documents.get("acme/search", "response", "b", 0.0):
                await asyncio.sleep(0.02)
        assert await stores.documents.get("acme/search", "response", "a", 0.0) == kept


@pytest.mark.parametrize(("refuses", "outcome"), [(False, ""), (True, "settings_invalid")])
async def test_a_reload_by_signal_is_audited_like_any_other(tmp_path: Path, refuses: bool, outcome: str) -> None:
    fleet = Fleet(refuses=refuses)
    async with running(tmp_path, fleet=fleet) as (_, parts):
        parts.reload.request()
        async with asyncio.timeout(WITHIN_S):
            while fleet.reloads == 0 or len(changes(tmp_path)) < 2:
                await asyncio.sleep(0.02)
    assert [(entry.who, entry.what, entry.outcome) for entry in changes(tmp_path)] == [
        (SIGNAL, "fleet.reload", "asked"),
        (SIGNAL, "fleet.reload", outcome),
    ]


async def test_two_offices_share_a_log_and_the_second_takes_it_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heterodyne.supervisor.stores.shared_audit_log.TAKE_INTERVAL_S", 0.01)
    monkeypatch.setattr("heterodyne.supervisor.meters.stores.INTERVAL_S", 0.01)
    audited = Settings(audit=AuditSettings(is_on=True))
    (tmp_path / "other").mkdir()

    def is_writing() -> bool:
        samples = exposition.gather(tmp_path / "other" / "run", "worker-0", ())
        return [one.values for one in samples if one.meter == "heterodyne_audit_writing"] == [[1.0]]

    async with AsyncExitStack() as first_life, AsyncExitStack() as second_life:
        first, _ = await first_life.enter_async_context(running(tmp_path, audited))
        second, parts = await second_life.enter_async_context(running(tmp_path / "other", audited))
        assert first.places.audit_key == second.places.audit_key
        await parts.services.tenants.create_organisation(OrganisationDraft(id="two"), "b")
        assert not is_writing()
        await first_life.aclose()
        assert [(entry.subject, entry.outcome) for entry in changes(tmp_path)] == [("two", "asked"), ("two", "")]
        async with asyncio.timeout(WITHIN_S):
            while not is_writing():
                await asyncio.sleep(0.02)
