"""Gateways on one state folder: one keeps the counters, the others ask it, and the next takes over."""

import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from heterodyne.domain.errors import StoreUnavailable
from heterodyne.ports.leases import LeaseCall, LimitCounter, Want
from heterodyne.stores.leases.folder import FolderLeases
from heterodyne.stores.leases.memory import SavedCounter
from heterodyne.stores.leases.server import serve_leases

DAY_S = 86400
NAME = "project:acme/search requests_per_day"


def day() -> int:
    return int(time.time()) // DAY_S * DAY_S


def call(holder: str, sequence: int, limit: int = 3) -> LeaseCall:
    """One request more of three a day."""
    want = Want(counter=NAME, window=day(), ends_s=day() + DAY_S, limit=limit, at_least=1, wanted=1)
    return LeaseCall(holder=holder, sequence=sequence, groups=((want,),))


async def granted(gateway: FolderLeases, holder: str, times: int) -> int:
    answers = [await gateway.exchange(call(holder, number)) for number in range(1, times + 1)]
    return sum(answer.groups[0][0].amount for answer in answers)


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="s-") as path:
        yield Path(path)


@asynccontextmanager
async def gateway(folder: Path, name: str) -> AsyncIterator[FolderLeases]:
    socket = folder / f"{name}.sock"
    one = FolderLeases(folder, socket)
    one.try_take()
    async with serve_leases(socket, one):
        try:
            yield one
        finally:
            await one.close()


async def test_two_gateways_on_one_state_folder_keep_one_budget(folder: Path) -> None:
    async with gateway(folder, "one") as one, gateway(folder, "two") as two:
        assert one.is_keeper
        assert not two.is_keeper
        assert await granted(one, "one-worker", 2) + await granted(two, "two-worker", 2) == 3
        assert await one.read([LimitCounter(NAME, day())]) == await two.read([LimitCounter(NAME, day())]) == (3,)
        assert await granted(two, "another", 3) == 0


async def test_when_the_keeper_leaves_another_goes_on_from_what_was_counted(folder: Path) -> None:
    async with AsyncExitStack() as first:
        one = await first.enter_async_context(gateway(folder, "one"))
        async with gateway(folder, "two") as two:
            assert await granted(one, "one-worker", 2) == 2
            assert await two.read([LimitCounter(NAME, day())]) == (2,)
            await first.aclose()
            assert await granted(two, "two-worker", 3) == 1, "of three a day two were used"
            assert two.is_keeper
    async with gateway(folder, "three") as three:
        assert await three.read([LimitCounter(NAME, day())]) == (3,)


async def test_a_keeper_that_has_not_said_where_it_is_makes_others_wait(folder: Path) -> None:
    keeper = FolderLeases(folder, folder / "nobody.sock")
    assert keeper.try_take()
    other = FolderLeases(folder, folder / "other.sock")
    assert not other.try_take()
    with pytest.raises(StoreUnavailable):
        await other.exchange(call("a", 1))
    with pytest.raises(StoreUnavailable):
        await other.read([LimitCounter(NAME, day())])
    await keeper.close()
    await other.tick()
    assert other.is_keeper
    await other.close()


async def test_counters_that_each_port_had_for_itself_become_one(folder: Path) -> None:
    for port, used in ((8080, 1), (8081, 2)):
        saved = [SavedCounter(counter=NAME, window=day(), ends_s=day() + DAY_S, used=used)]
        (folder / f"limits-{port}.json").write_bytes(msgspec.json.encode(saved))
    async with gateway(folder, "one") as one:
        assert await granted(one, "worker", 2) == 0
        await one.tick()
    assert sorted(path.name for path in folder.glob("limits*")) == ["limits.json", "limits.lock"]


async def test_a_folder_that_cannot_be_locked_still_has_limits(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    alone = FolderLeases(tmp_path / "file" / "below", tmp_path / "a.sock")
    assert await granted(alone, "worker", 5) == 3
    await alone.tick()
    await alone.close()
