"""Runs a plan from warm-up to report, with progress on the way."""

import asyncio
from collections.abc import Callable, Coroutine

from msgspec import Struct

from heterodyne.bench.client import Client
from heterodyne.bench.endpoint import parse_endpoint
from heterodyne.bench.load_generator import LoadGenerator
from heterodyne.bench.plan import BenchPlan
from heterodyne.bench.report import BenchReport, make_report

PROGRESS_EVERY_S = 0.25
WARM_UP_CONCURRENCY = 8


class Progress(Struct, frozen=True, kw_only=True):
    """Where the measured part stands."""

    elapsed_s: float
    sent: int
    succeeded: int
    failed: int


async def run(
    plan: BenchPlan,
    *,
    clock: Callable[[], float],
    on_progress: Callable[[Progress], None] | None = None,
    stop: asyncio.Event | None = None,
) -> BenchReport:
    """The whole run; setting `stop` ends it early with a report of what was seen."""
    endpoint = parse_endpoint(plan.url, api_key=plan.api_key, ca_file=plan.ca_file)
    client = Client(endpoint, clock=clock)
    stop = stop or asyncio.Event()
    try:
        if plan.warm_up_requests:
            warm_up = LoadGenerator(plan, client, clock, first_index=0)
            await _until(stop, warm_up.closed_loop(WARM_UP_CONCURRENCY, requests=plan.warm_up_requests))
        load = LoadGenerator(plan, client, clock, first_index=plan.warm_up_requests)
        await _until(stop, _main_loop(plan, load), beside=_report_progress(load, on_progress))
        elapsed_s = load.last_at_s - load.start_at_s
        return make_report(plan, load.tally, elapsed_s=elapsed_s, is_interrupted=stop.is_set())
    finally:
        client.close()


def _main_loop(plan: BenchPlan, load: LoadGenerator) -> Coroutine[None, None, None]:
    if plan.rate_requests_per_s is not None:
        return load.open_loop(plan.rate_requests_per_s)
    return load.closed_loop(plan.concurrency or 1, requests=plan.requests, duration_s=plan.duration_s)


async def _until(
    stop: asyncio.Event,
    work: Coroutine[None, None, None],
    *,
    beside: Coroutine[None, None, None] | None = None,
) -> None:
    """The work to its end or to `stop`; what runs beside it ends with it."""
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(work)
        stopper = tasks.create_task(_cancel_on(stop, task))
        task.add_done_callback(lambda _: stopper.cancel())
        if beside is not None:
            companion = tasks.create_task(beside)
            task.add_done_callback(lambda _: companion.cancel())


async def _cancel_on(stop: asyncio.Event, task: asyncio.Task[None]) -> None:
    await stop.wait()
    task.cancel()


async def _report_progress(load: LoadGenerator, on_progress: Callable[[Progress], None] | None) -> None:
    while on_progress is not None:
        on_progress(
            Progress(
                elapsed_s=load.clock() - load.start_at_s,
                sent=load.tally.sent,
                succeeded=load.tally.succeeded,
                failed=load.tally.failed,
            )
        )
        await asyncio.sleep(PROGRESS_EVERY_S)
