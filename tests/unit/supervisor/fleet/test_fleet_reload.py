"""A reload in two steps, and the way back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import pytest

from heterodyne.config.settings import Settings
from heterodyne.console.errors import ChangeRefused
from heterodyne.domain.errors import SettingsInvalid
from heterodyne.domain.fleet import Replica
from heterodyne.fleet.settings import PoolSettings
from heterodyne.supervisor.configured_replicas import remote_replicas
from heterodyne.supervisor.fleet.fleet_reload import FleetReload
from heterodyne.supervisor.fleet.managed_fleet import ManagedFleet
from heterodyne.supervisor.fleet.managed_replica import ManagedReplica
from heterodyne.supervisor.fleet.reconcile import members
from heterodyne.supervisor.workers.workers import Workers
from heterodyne.telemetry import metrics


class Taking:
    """Workers that take every order at once, unless they hang."""

    def __init__(self) -> None:
        self.version = 1
        self.settings: Settings | None = None
        self.hangs = False

    def publish(self, settings: Settings, _: tuple[Replica, ...]) -> int:
        self.settings = settings
        self.version += 1
        return self.version

    async def wait_applied(self, _: int, __: float) -> bool:
        return not self.hangs


def priced(usd: float) -> Settings:
    return Settings(pools={"chat": PoolSettings(model="m", urls=("http://a:1",), price_usd_per_hour=usd)})


class Bench:
    """A fleet of one replica whose price the file says."""

    def __init__(self) -> None:
        self.file = priced(1.0)
        self.taken: list[Settings] = []
        self.fails = False
        wanted = members(remote_replicas(self.file), ())
        self.workers = Taking()
        self.fleet = ManagedFleet(self.file, [ManagedReplica(one) for one in wanted], cast(Workers, self.workers))
        self.reload = FleetReload(
            self.file,
            self.fleet,
            wanted=wanted,
            weights={},
            reread=lambda: self.file,
            fetch=lambda _: {},
            on_settings=lambda settings, _: self.on_settings(settings),
        )

    def on_settings(self, settings: Settings) -> None:
        if self.fails and settings == self.file:
            raise OSError("no")
        self.taken.append(settings)

    @property
    def usd(self) -> float | None:
        return self.fleet.serving()[0].member.replica.price.usd_per_hour


@asynccontextmanager
async def running() -> AsyncIterator[Bench]:
    """With a group for what takes time."""
    bench = Bench()
    async with asyncio.TaskGroup() as group:
        bench.fleet.start(group)
        yield bench


async def test_what_was_prepared_is_taken_whatever_the_file_says_by_then_and_can_be_undone() -> None:
    async with running() as bench:
        began = bench.reload.version
        bench.file = priced(2.0)
        prepared = await bench.reload.prepare()
        assert (bench.usd, bench.reload.version) == (1.0, began), "nothing has changed yet"
        bench.file = priced(3.0)
        answer = await bench.reload.take(prepared)
        assert (bench.usd, bench.reload.version, answer.settings) == (2.0, prepared.version, prepared.version.word)
        assert [sample.labels for sample in metrics.settings_info.samples()] == [(prepared.version.word,)]
        await bench.reload.undo()
        assert (bench.usd, bench.reload.version) == (1.0, began)
        await bench.reload.undo()
        assert bench.usd == 1.0, "there is nothing further back"


@pytest.mark.parametrize("fault", ["hangs", "fails"])
async def test_what_cannot_be_taken_leaves_what_was(fault: str) -> None:
    async with running() as bench:
        bench.file = priced(2.0)
        prepared = await bench.reload.prepare()
        setattr(bench.workers if fault == "hangs" else bench, fault, True)
        with pytest.raises(ChangeRefused):
            await bench.reload.take(prepared)
        assert bench.usd == 1.0
        assert bench.workers.settings == priced(1.0)
        assert bench.reload.version != prepared.version


async def test_workers_that_are_late_are_not_ready_for_more() -> None:
    async with running() as bench:
        bench.workers.hangs = True
        with pytest.raises(ChangeRefused, match="does not yet work by"):
            await bench.reload.prepare()
        assert await bench.reload.prepare(awaits_workers=False)


async def test_bad_settings_are_refused_and_the_next_ones_are_not() -> None:
    async with running() as bench:

        def refuse() -> Settings:
            raise SettingsInvalid("pools.chat: no")

        bench.reload._reread = refuse
        with pytest.raises(SettingsInvalid):
            await bench.reload.prepare()
        assert bench.reload.last is not None
        assert bench.reload.last.problems == ("pools.chat: no",)
        bench.reload._reread = lambda: priced(2.0)
        await asyncio.wait_for(bench.reload.reload(), 10.0)
        assert bench.usd == 2.0
