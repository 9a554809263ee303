"""`make bench-batches`: a batch beside interactive traffic, and each of the two alone."""

import argparse
import asyncio
import json
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import uvloop
from msgspec import Struct

from benchmarks.batches.lines import BatchShape
from benchmarks.batches.traffic import IN_FLIGHT_MAX, WARM_S, interactive, read_options, slo_of
from benchmarks.emulated_fleet import EmulatedFleet
from benchmarks.machine import describe
from benchmarks.routing_live.client import Reply, replay
from benchmarks.routing_live.fleet import MODEL, Rules, live_fleet
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.urgency import Urgency
from heterodyne.physics.serving import Slo
from heterodyne.simulator.workload import SimulatedRequest, workload

ENDS = ("completed", "failed", "expired", "cancelled")


class Measured(Struct, kw_only=True):
    """One of the three runs."""

    attainment: float | None = None  # of interactive requests, those whose promise was kept
    interactive: int = 0
    failed: int = 0
    lines_per_s: float | None = None
    lines: int = 0
    cached_tokens: int = 0
    cached_share: float | None = None  # of what lines could share
    usd_per_million_interactive: float | None = None
    usd_per_million_batch: float | None = None
    behind: list[str] = []
    pools: dict[str, int] = {}


def main() -> int:
    """Print what was found."""
    options = read_options(__doc__, seconds=300.0)
    slo = slo_of(options)
    shape = BatchShape(
        lines=options.lines,
        groups=options.groups,
        shared_tokens=options.shared_tokens,
        own_tokens=options.own_tokens,
        output_tokens=options.output_tokens,
    )
    arrivals = _arrivals(slo, options)
    runs = {
        "interactive alone": _run(arrivals, None, slo, options),
        "batch alone": _run((), shape, slo, options),
        "both": _run(arrivals, shape, slo, options),
    }
    print(describe())
    for name, run in runs.items():
        print(name, run)
    alone, both = runs["batch alone"], runs["both"]
    before, after = runs["interactive alone"].attainment, both.attainment
    assert before is not None
    assert after is not None
    print(f"attainment {100 * before:.2f} % -> {100 * after:.2f} %: {100 * (after - before):+.2f} points")
    if alone.lines_per_s and both.lines_per_s:
        left = (1 - options.load) * alone.lines_per_s
        print(f"batch {both.lines_per_s:.1f} lines/s, {both.lines_per_s / left:.2f} of the {left:.1f} left over")
    if both.usd_per_million_batch and both.usd_per_million_interactive:
        print(
            f"$ per million tokens: {both.usd_per_million_batch / both.usd_per_million_interactive:.2f} of interactive"
        )
    return 0


def _arrivals(slo: Slo, options: argparse.Namespace) -> Sequence[SimulatedRequest]:
    traffic = interactive(options, slo)
    log = traffic.log[: int(traffic.rate * (options.warm_s + options.seconds))]
    print(f"{len(log)} interactive requests, {traffic.rate:.1f}/s", file=sys.stderr)
    return workload(log, rate=traffic.rate).arrivals


def _run(
    arrivals: Sequence[SimulatedRequest], shape: BatchShape | None, slo: Slo, options: argparse.Namespace
) -> Measured:
    more = f"[admission]\nin_flight_max = {IN_FLIGHT_MAX}\n"
    rules = Rules(policy=options.policy, slo=slo, has_queue=True, more=more)
    with tempfile.TemporaryDirectory() as name, live_fleet(Path(name), rules) as fleet:
        measured, replies, failures, lines_per_s = uvloop.run(_drive(fleet, arrivals, shape, options))
        records = fleet.end()
        measured.behind = fleet.behind()
    _add_replies(measured, replies, failures, slo, sum(one.at_s >= options.warm_s for one in arrivals))
    measured.lines_per_s = lines_per_s
    _add_records(measured, records, shape)
    print(measured, file=sys.stderr)
    return measured


async def _drive(
    fleet: EmulatedFleet,
    arrivals: Sequence[SimulatedRequest],
    shape: BatchShape | None,
    options: argparse.Namespace,
) -> tuple[Measured, list[Reply], list[str], float | None]:
    watching = None if shape is None else asyncio.create_task(_work_off(fleet.url, shape, bool(arrivals), options))
    replies: list[Reply] = []
    failures: list[str] = []
    if arrivals:
        replies, failures = await replay(fleet.url, MODEL, arrivals)
    lines_per_s = None if watching is None else await watching
    return Measured(), replies, failures, lines_per_s


async def _work_off(url: str, shape: BatchShape, is_beside: bool, options: argparse.Namespace) -> float:
    """Lines answered in a second. Beside traffic it comes to a gateway that has seen some, as those at night have."""
    if is_beside:
        await asyncio.sleep(options.warm_s)
    batch = await asyncio.to_thread(_submit, url, shape, options.seed)
    return await _watch(url, batch["id"], options.seconds)


async def _watch(url: str, id: str, seconds: float) -> float:
    """Lines answered in a second, from when it is warm until it is over or the time is."""
    began_s = time.monotonic()
    first: tuple[float, int] | None = None
    last = (began_s, 0)
    while True:
        batch = await asyncio.to_thread(_get, f"{url}/v1/batches/{id}")
        done = batch["request_counts"]["completed"]
        now_s = time.monotonic()
        if done > last[1]:
            last = (now_s, done)
        if first is None and done and now_s - began_s >= WARM_S:
            first = (now_s, done)
        if batch["status"] in ENDS or now_s - began_s > seconds:
            break
        await asyncio.sleep(0.5)
    if batch["status"] not in ENDS:
        await asyncio.to_thread(_post, f"{url}/v1/batches/{id}/cancel", b"{}", "application/json")
        while batch["status"] not in ENDS:
            await asyncio.sleep(0.5)
            batch = await asyncio.to_thread(_get, f"{url}/v1/batches/{id}")
    if first is None or last[0] <= first[0]:
        return 0.0
    return (last[1] - first[1]) / (last[0] - first[0])


def _submit(url: str, shape: BatchShape, seed: int) -> Any:
    content, line = shape.write(MODEL, seed), "batch-boundary"
    body = (
        (
            f'--{line}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
            f'--{line}\r\ncontent-disposition: form-data; name="file"; filename="in.jsonl"\r\n\r\n'
        ).encode()
        + content
        + f"\r\n--{line}--\r\n".encode()
    )
    file = _post(f"{url}/v1/files", body, f"multipart/form-data; boundary={line}")
    asked = {"input_file_id": file["id"], "endpoint": "/v1/completions", "completion_window": "24h"}
    return _post(f"{url}/v1/batches", json.dumps(asked).encode(), "application/json")


def _add_replies(
    measured: Measured, replies: Sequence[Reply], failures: Sequence[str], slo: Slo, arrivals: int
) -> None:
    measured.interactive, measured.failed = arrivals, len(failures)
    if arrivals:
        # Those before the batch are not counted, and what they miss is, as if it were the others'.
        missed = sum(one.ttft_s > slo.ttft_s or one.itl_s > slo.itl_s for one in replies) + len(failures)
        measured.attainment = 1 - missed / arrivals


def _add_records(measured: Measured, records: Sequence[RequestRecord], shape: BatchShape | None) -> None:
    by_class: dict[bool, list[RequestRecord]] = {True: [], False: []}
    for one in records:
        if one.status == 200 and one.usd is not None:
            by_class[one.urgency == Urgency.BATCH].append(one)
    measured.usd_per_million_batch = _usd_per_million(by_class[True])
    measured.usd_per_million_interactive = _usd_per_million(by_class[False])
    lines = by_class[True]
    measured.lines, measured.cached_tokens = len(lines), sum(one.cached_tokens for one in lines)
    measured.pools = dict(Counter(one.pool for one in lines))
    if shape is not None and lines:
        shareable = shape.shared_tokens * (len(lines) - shape.groups)
        measured.cached_share = measured.cached_tokens / max(1, shareable)


def _usd_per_million(records: Sequence[RequestRecord]) -> float | None:
    tokens = sum(one.prompt_tokens + one.completion_tokens for one in records)
    return sum(one.usd or 0.0 for one in records) / tokens * 1e6 if tokens else None


def _get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return json.load(answer)


def _post(url: str, body: bytes, media_type: str) -> Any:
    request = urllib.request.Request(url, body, {"content-type": media_type})
    with urllib.request.urlopen(request, timeout=300) as answer:
        return json.load(answer)


if __name__ == "__main__":
    raise SystemExit(main())
