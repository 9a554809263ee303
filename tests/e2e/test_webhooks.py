"""Alerts on their way to a real receiver: told once each, again when it fails, and never to somebody else."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trustme
from msgspec.structs import replace

from heterodyne.alerts.alert import Severity
from heterodyne.alerts.evaluator import Notice, Phase
from heterodyne.alerts.settings import AlertSettings
from heterodyne.alerts.webhook import read_webhook
from heterodyne.alerts.webhook_sender import WAITING_MAX, RetrySchedule, WebhookSender
from heterodyne.console.fleet.pages import FleetPage, ReplicaCondition
from heterodyne.supervisor.alerts.signals import SignalMaker
from heterodyne.supervisor.alerts.watch import AlertWatch
from heterodyne.telemetry import exposition, metrics
from heterodyne.wire.connection_pool import ConnectionPool
from tests.support.admin_fleets import REPLICA, WORKER
from tests.support.inline_books import InlineBooks
from tests.support.webhook_receiver import Receiver, receiving

RETRY_SCHEDULE = RetrySchedule(timeout_s=5.0, tries_max=4, wait_s=0.01, wait_max_s=0.05)
LOOK_S = 0.01


class FakeFleet:
    """A fleet of one replica, and a clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 1_793_534_400.0
        self.state = ReplicaCondition.READY
        self.looks = 0

    def page(self) -> FleetPage:
        self.looks += 1
        replica = replace(REPLICA, state=self.state)
        return FleetPage(version=1, is_applied=True, workers=(WORKER,), replicas=(replica,), reload=None)

    async def after(self, seconds: float) -> None:
        """Let time pass, and wait until somebody has looked twice since."""
        self.now += seconds
        looks = self.looks
        await wait_for(lambda: self.looks > looks + 4)


@asynccontextmanager
async def watching(
    fake_fleet: FakeFleet,
    run_dir: Path,
    webhooks: dict[str, dict[str, Any]],
    tls: ssl.SSLContext | None = None,
    **variables: str,
) -> AsyncIterator[AlertWatch]:
    books = InlineBooks()
    maker = SignalMaker(history=books, run_dir=run_dir, page=fake_fleet.page, books=lambda: None, audit=lambda: None)
    watch = AlertWatch(
        lambda: AlertSettings(webhooks=webhooks),
        maker,
        run_dir,
        environment=variables,
        interval_s=LOOK_S,
        retry_schedule=RETRY_SCHEDULE,
        tls=tls,
        wall_clock=lambda: fake_fleet.now,
    )
    task = asyncio.create_task(watch.run())
    try:
        yield watch
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        books.close()


async def wait_for(is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(15):
        while not is_so():
            await asyncio.sleep(0.01)


def told(receiver: Receiver) -> list[tuple[str, str]]:
    return [(one["phase"], one["name"]) for one in receiver.taken()]


async def break_and_mend(fake_fleet: FakeFleet) -> None:
    """Long enough for the page, and not for the ticket that would follow."""
    fake_fleet.state = ReplicaCondition.DOWN
    await fake_fleet.after(0)
    await fake_fleet.after(61)
    fake_fleet.state = ReplicaCondition.READY
    await fake_fleet.after(1)
    await fake_fleet.after(61)


async def test_a_firing_and_a_resolved_notice_arrive_once_each_though_the_receiver_fails_first(tmp_path: Path) -> None:
    fake_fleet = FakeFleet()
    with receiving(Receiver(500, 429)) as receiver:
        hook = f"http://127.0.0.1:{receiver.port}/hook?key=SECRET"
        table = {"url_env": "HOOK", "headers_env": {"Authorization": "TOKEN"}}
        async with watching(fake_fleet, tmp_path, {"own": table}, HOOK=hook, TOKEN="Bearer abc") as watch:
            fake_fleet.state = ReplicaCondition.DOWN
            await fake_fleet.after(0)
            assert watch.lines() == ()
            await fake_fleet.after(61)
            await wait_for(lambda: len(told(receiver)) == 1)
            (line,) = watch.lines()
            assert (line.name, line.severity, line.subject) == ("pool_without_replica", "page", "chat")
            fake_fleet.state = ReplicaCondition.READY
            await fake_fleet.after(1)
            await fake_fleet.after(61)
            await wait_for(lambda: len(told(receiver)) == 2)
            assert watch.lines() == ()
            await fake_fleet.after(100)
    assert told(receiver) == [("firing", "pool_without_replica"), ("resolved", "pool_without_replica")]
    assert [one.status for one in receiver.posted] == [500, 429, 204, 204]
    assert len({one.body["id"] for one in receiver.posted}) == 2, "the same notice has the same id each time"
    first = receiver.posted[0]
    assert first.path == "/hook?key=SECRET"
    assert first.headers["authorization"] == "Bearer abc"
    assert first.headers["content-type"] == "application/json"
    assert first.body["subject"] == "chat"


async def test_how_many_fire_is_left_for_the_workers_to_export(tmp_path: Path) -> None:
    fake_fleet = FakeFleet()

    def firing() -> float:
        found = exposition.gather(tmp_path, "", (metrics.alerts_firing,))
        return sum(one.values[0] for one in found if one.labels == ("pool_without_replica", "page"))

    async with watching(fake_fleet, tmp_path, {}):
        fake_fleet.state = ReplicaCondition.DOWN
        await fake_fleet.after(0)
        await fake_fleet.after(61)
        metrics.alerts_firing.forget(("pool_without_replica", "page"))  # only what lies in the folder counts
        await wait_for(lambda: firing() >= 1)


async def test_a_receiver_that_refuses_is_not_asked_again_and_costs_no_other(tmp_path: Path) -> None:
    fake_fleet = FakeFleet()
    with receiving(Receiver(*[400] * 10)) as refusing, receiving(Receiver()) as well:
        tables = {
            "refusing": {"url": f"http://127.0.0.1:{refusing.port}/"},
            "gone": {"url": "http://127.0.0.1:1/"},
            "chat": {"url": f"http://127.0.0.1:{well.port}/", "format": "slack"},
        }
        async with watching(fake_fleet, tmp_path, tables):
            await break_and_mend(fake_fleet)
            await wait_for(lambda: len(well.posted) == 2 and len(refusing.posted) == 2)
    assert [one.status for one in refusing.posted] == [400, 400]
    assert well.posted[0].body["text"].startswith("page: pool_without_replica")
    assert well.posted[1].body["text"].startswith("resolved: pool_without_replica")


async def test_a_webhook_that_wants_pages_gets_no_tickets(tmp_path: Path) -> None:
    fake_fleet = FakeFleet()
    with receiving(Receiver()) as pages, receiving(Receiver()) as everything:
        tables = {
            "pages": {"url": f"http://127.0.0.1:{pages.port}/", "min_severity": "page"},
            "everything": {"url": f"http://127.0.0.1:{everything.port}/"},
        }
        async with watching(fake_fleet, tmp_path, tables):
            fake_fleet.state = ReplicaCondition.DOWN
            await fake_fleet.after(0)
            await fake_fleet.after(301)
            await wait_for(lambda: len(everything.posted) == 2)
            await wait_for(lambda: pages.posted)
    assert {name for _, name in told(everything)} == {"pool_without_replica", "replica_down"}
    assert told(pages) == [("firing", "pool_without_replica")]


async def test_a_receiver_nobody_vouches_for_is_told_nothing(tmp_path: Path) -> None:
    authority = trustme.CA()
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(serving)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    failed = metrics.alerts_webhooks.cell(("failed",))
    with receiving(Receiver(), serving) as receiver:
        tables = {"own": {"url": f"https://127.0.0.1:{receiver.port}/"}}
        before, fake_fleet = failed[0], FakeFleet()
        async with watching(fake_fleet, tmp_path, tables):
            await break_and_mend(fake_fleet)
            await wait_for(lambda: failed[0] >= before + 2)
        assert receiver.posted == []
        fake_fleet = FakeFleet()
        async with watching(fake_fleet, tmp_path, tables, trusting):
            await break_and_mend(fake_fleet)
            await wait_for(lambda: len(receiver.posted) == 2)


async def test_a_webhook_is_told_the_same_once_and_the_oldest_of_too_many_gives_way() -> None:
    notices = [
        Notice(
            phase=Phase.FIRING,
            name="kv_full",
            severity=Severity.TICKET,
            subject=f"pool-{number}",
            summary="",
            guide="",
            since_at=1.0,
            at=2.0,
        )
        for number in range(WAITING_MAX + 1)
    ]
    dropped = metrics.alerts_webhooks.cell(("dropped",))
    before = dropped[0]
    with receiving(Receiver()) as receiver:
        pool = ConnectionPool(asyncio.get_running_loop(), idle_max=0)
        webhook = read_webhook("own", {"url": f"http://127.0.0.1:{receiver.port}/"}, {})
        sender = WebhookSender(webhook, pool, "here", RETRY_SCHEDULE)
        for notice in (*notices, *notices):
            sender.put(notice)
        task = asyncio.create_task(sender.run())
        await wait_for(lambda: len(receiver.posted) == WAITING_MAX)
        sender.put(notices[-1])
        sender.put(replace(notices[-1], phase=Phase.RESOLVED))
        await wait_for(lambda: receiver.posted[-1].body["phase"] == "resolved")
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await pool.close()
    assert dropped[0] == before + 1
    assert [one.body["subject"] for one in receiver.posted[:-1]] == [one.subject for one in notices[1:]]
    assert len(receiver.posted) == WAITING_MAX + 1
