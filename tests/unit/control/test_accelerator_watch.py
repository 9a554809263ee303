"""Devices of pools, read from real pages of real servers."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

import pytest

from heterodyne.config.checks.pool_checks import accelerator_urls_can_be_called
from heterodyne.config.settings import Settings
from heterodyne.control.accelerator_watch import DEVICES_MAX, AcceleratorsSeen, AcceleratorWatch
from heterodyne.fleet.settings import PoolSettings
from heterodyne.supervisor.meters.fleet import device_samples
from tests.support.watches import WAIT_S, Pages
from tests.unit.engines.test_accelerators import AMD, DCGM, MIB, TPU

REPLICA = "http://127.0.0.1:1"


def pool(*urls: str, hardware: str | None = None) -> PoolSettings:
    return PoolSettings(model="m", urls=(REPLICA,), hardware=hardware, accelerator_metrics_urls=urls)


def url(server: Pages, path: str = "/metrics") -> str:
    return f"http://127.0.0.1:{server.port}{path}"


class Watched:
    def __init__(self, watch: AcceleratorWatch) -> None:
        self.watch = watch

    async def until(self, is_so: Callable[[AcceleratorsSeen], object]) -> AcceleratorsSeen:
        async with asyncio.timeout(WAIT_S):
            while not is_so(self.watch.snapshot()):
                await asyncio.sleep(0.005)
        return self.watch.snapshot()


@asynccontextmanager
async def watching(pools: Mapping[str, PoolSettings]) -> AsyncIterator[Watched]:
    watch = AcceleratorWatch(lambda: pools, interval_s=0.02)
    task = asyncio.create_task(watch.run())
    try:
        yield Watched(watch)
        assert not task.done()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_every_exporter_is_read_where_its_pool_says() -> None:
    async with (
        Pages(metrics=(200, DCGM)) as dcgm,
        Pages(metrics=(200, AMD)) as amd,
        Pages(tpu_metrics=(200, TPU)) as tpu,
    ):
        pools = {
            "nvidia": pool(url(dcgm, ""), hardware="h100"),
            "amd": pool(url(amd), hardware="mi300x"),
            "tpu": pool(url(tpu, "/tpu/metrics")),
            "cpu": pool(),
        }
        async with watching(pools) as watched:
            seen = await watched.until(lambda seen: len(seen.devices) == 5)
        assert seen.problems == {}
        assert [(one.pool, one.hardware, one.exporter) for one in seen.devices] == [
            ("nvidia", "h100", "dcgm"),
            ("nvidia", "h100", "dcgm"),
            ("amd", "mi300x", "amd"),
            ("amd", "mi300x", "amd"),
            ("tpu", "", "tpu"),
        ]
        device = f"127.0.0.1:{dcgm.port}/0"
        samples = {(sample.meter, sample.labels): sample.values for sample in device_samples(seen.devices)}
        assert samples["heterodyne_fleet_accelerator_utilisation_ratio", ("nvidia", "h100", device)] == [0.97]
        used = samples["heterodyne_fleet_accelerator_memory_used_bytes", ("nvidia", "h100", device)]
        assert used == [73728.0 * MIB]
        assert len(samples) == 4 * 5 + 3, "a TPU says nothing of power and temperature"


async def test_devices_of_a_page_that_cannot_be_read_are_gone_until_it_can() -> None:
    async with Pages(metrics=(200, DCGM)) as good, Pages(metrics=(200, DCGM)) as other:
        pools = {"p": pool(url(good), url(other))}
        async with watching(pools) as watched:
            await watched.until(lambda seen: len(seen.devices) == 4)
            other.pages["/metrics"] = (500, b"no driver")
            seen = await watched.until(lambda seen: seen.problems)
            assert seen.problems == {"pools.p.accelerator_metrics_urls[1]": "It answers 500 to /metrics."}
            assert {one.device for one in seen.devices} == {f"127.0.0.1:{good.port}/{one}" for one in (0, 1)}
            other.pages["/metrics"] = (200, b"<html>")
            await watched.until(lambda seen: "HTML" in "".join(seen.problems.values()))
            other.pages["/metrics"] = (200, DCGM)
            await watched.until(lambda seen: not seen.problems and len(seen.devices) == 4)


async def test_nobody_there_is_a_problem_and_no_end() -> None:
    async with Pages(metrics=(200, DCGM)) as server:
        port = server.port
    async with watching({"p": pool(f"http://127.0.0.1:{port}/metrics")}) as watched:
        seen = await watched.until(lambda seen: seen.problems)
        assert "does not accept connections" in seen.problems["pools.p.accelerator_metrics_urls[0]"]


async def test_a_reload_is_heeded() -> None:
    async with Pages(metrics=(200, DCGM)) as server:
        pools: dict[str, PoolSettings] = {}
        async with watching(pools) as watched:
            await asyncio.sleep(0)
            pools["p"] = pool(url(server))
            await watched.until(lambda seen: len(seen.devices) == 2)
            pools["p"] = pool()
            await watched.until(lambda seen: not seen.devices)


async def test_settings_that_cannot_be_are_no_end_either() -> None:
    async with Pages(metrics=(200, DCGM)) as server:
        pools = {"p": pool("http://[broken")}
        async with watching(pools) as watched:
            await asyncio.sleep(0)
            pools["p"] = pool(url(server))
            await watched.until(lambda seen: len(seen.devices) == 2)


async def test_a_pool_has_a_bounded_number_of_devices() -> None:
    page = b"".join(b'DCGM_FI_DEV_GPU_UTIL{gpu="%d"} 1\n' % number for number in range(DEVICES_MAX + 6))
    async with Pages(metrics=(200, page)) as first, Pages(metrics=(200, page)) as second:
        async with watching({"p": pool(url(first), url(second)), "q": pool(url(second))}) as watched:
            seen = await watched.until(lambda seen: seen.devices)
        assert len(seen.devices) == 2 * DEVICES_MAX
        assert seen.left_out == {"p": DEVICES_MAX + 12, "q": 6}


async def test_a_page_without_end_is_not_read_to_the_end() -> None:
    async with Pages(metrics=(200, DCGM + b"#" * (5 << 20))) as server, watching({"p": pool(url(server))}) as watched:
        seen = await watched.until(lambda seen: seen.problems)
        assert seen.problems == {"pools.p.accelerator_metrics_urls[0]": "The answer is too large."}


@pytest.mark.parametrize(
    ("urls", "message"),
    [
        (("ftp://h/metrics",), "expected http://host:port or https://host:port"),
        (("http://user:secret@h:9400/metrics",), "carries a user or password"),
        (("http://h:9400/metrics?x=1",), "carries a query or fragment"),
        (("http://[broken",), "not a URL"),
        (("http://h:0/metrics",), "a port is 1 to 65535"),
    ],
)
def test_a_url_that_cannot_be_called_is_found_before_anybody_calls_it(urls: tuple[str, ...], message: str) -> None:
    (problem,) = accelerator_urls_can_be_called(Settings(pools={"p": pool(*urls)}), {})
    assert problem.path == "pools.p.accelerator_metrics_urls[0]"
    assert problem.message.startswith(message)
    assert "secret" not in problem.message


def test_a_page_is_named_once() -> None:
    twice = Settings(pools={"p": pool("http://h:9400/metrics", "http://h:9400/metrics"), "q": pool()})
    assert [problem.message for problem in accelerator_urls_can_be_called(twice, {})] == ["listed twice"]
