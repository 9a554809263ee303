"""A long run over a fleet that mostly fails: memory stays flat, nothing is left behind, each request ends once.

`make soak` runs fifty thousand requests, `make test` two thousand.
"""

import asyncio
import os
import time
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import pytest

from heterodyne.domain.record import RequestRecord
from heterodyne.routing.health.outcome import FAILURES, Outcome
from heterodyne.testing.serve_process import ServeProcess
from tests.soak.faults_client import Ends, load_faults
from tests.soak.faulty_fleet import faulty_fleet
from tests.soak.worker_figures import descriptors, rss_kib, settled
from tests.support.requests import MODEL

REQUESTS = int(os.environ.get("SOAK_REQUESTS", "2000"))
CLIENTS = 48
SEED = 11
GROWTH_MAX_KIB = 5 * 1024  # in one of the rounds
ROUNDS_MAX = 3
WHOLE_SHARE_MIN = 0.75  # of the requests whose clients stayed
FAULTY_SHARE_MIN = 0.1  # failed attempts per request: below it the run shows little
RECORDS_S_MAX = 3.0
WARM_UP_S_MAX = 90.0
KINDS = sorted(FAILURES | {Outcome.REFUSED_BUSY})
# Short times, so that whoever is left out soon fails again, and silence is noticed before clients lose patience.
CONFIG = """
[gateway]
connect_timeout_s = 1.0
first_byte_timeout_s = 0.4
stall_timeout_s = 0.3

[routing]
breaker_failures = 50
breaker_open_s = 0.02
breaker_window_s = 0.5
ejection_interval_s = 1.0
ejection_base_s = 0.02
ejection_max_s = 0.1
ejection_probe_min_s = 0.02
ejection_share_max = 0.5
slow_start_s = 0.02
refusal_pause_s = 0.02
refusal_pause_max_s = 0.05
panic_share = 0.25

[pools.faulty]
model = "{model}"
engine = "vllm"
urls = {urls}
"""


@pytest.mark.timeout(1800)
async def test_memory_stays_flat_while_most_replicas_fail(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    records = tmp_path / "records.jsonl"
    kept = {"HETERODYNE_TELEMETRY__RECORDS": str(records)}
    async with faulty_fleet() as urls:
        config = CONFIG.format(model=MODEL, urls=msgspec.json.encode(urls).decode())
        with ServeProcess(tmp_path, config=config, environment=kept) as serve:
            await asyncio.to_thread(serve.wait_ready, 30)
            port, worker = urlsplit(serve.url).port or 0, serve.pid_of("worker-0")
            warm = await load_faults(port, max(400, REQUESTS // 5), clients=CLIENTS, seed=SEED)
            before = await _every_kind_met(port, warm)
            warm_descriptors, began_s, ends, rounds = descriptors(worker), time.monotonic(), Ends(), 0
            # A burst of a busy machine raises what the worker has once, a leak with every round.
            while True:
                warm_kib, rounds = rss_kib(worker), rounds + 1
                await load_faults(port, REQUESTS, clients=CLIENTS, seed=SEED + rounds * CLIENTS, ends=ends)
                after = await settled(port)
                grown_kib, grown_descriptors = rss_kib(worker) - warm_kib, descriptors(worker) - warm_descriptors
                if grown_kib < GROWTH_MAX_KIB or rounds == ROUNDS_MAX:
                    break
            took_s, asked = time.monotonic() - began_s, rounds * REQUESTS
            failed = after["attempts_failed"] - before["attempts_failed"]
            met = ", ".join(f"{after.get(outcome, 0.0) - before.get(outcome, 0.0):.0f} {outcome}" for outcome in KINDS)
            with capfd.disabled():
                print(
                    f"\nfaults soak: {asked} requests by {CLIENTS} clients over {len(urls)} replicas in "
                    f"{took_s:.1f} s: {ends.whole} whole, {ends.left} left by their client, {ends.error_events} "
                    f"streams ended in an error, {dict(ends.refused)} refused; {failed:.0f} attempts failed ({met}), "
                    f"{after['retries'] - before['retries']:.0f} retries, {after['hedges'] - before['hedges']:.0f} "
                    f"hedges, {after['continuations'] - before['continuations']:.0f} continuations; memory of the "
                    f"worker {warm_kib / 1024:.1f} MiB before round {rounds}, {grown_kib / 1024:+.2f} MiB after; "
                    f"descriptors {warm_descriptors} {grown_descriptors:+d}, engine connections "
                    f"{before['idle']:.0f} {after['idle'] - before['idle']:+.0f}"
                )
            written = await _records(records, after["requests"])
            assert ends.count == asked
            _check_ends(warm, ends, after, written)
            assert after["busy"] == after["in_flight"] == after["body_bytes"] == after["records_dropped"] == 0
            # Besides kept connections, each replica may have one of its health looks.
            assert grown_descriptors <= after["idle"] - before["idle"] + len(urls)
            assert grown_kib < GROWTH_MAX_KIB
            assert failed > FAULTY_SHARE_MIN * asked
            assert '"level":"error"' not in serve.log.replace(" ", "")
            assert await asyncio.to_thread(serve.stop) == 0


async def _every_kind_met(port: int, warm: Ends) -> dict[str, float]:
    """The gateway's figures, once each kind of failure was met at least once; how long that takes is chance."""
    until_s, seed = time.monotonic() + WARM_UP_S_MAX, SEED + CLIENTS
    while True:
        figures = await settled(port)
        missing = [kind for kind in KINDS if not figures.get(kind)]
        if not missing:
            return figures
        assert time.monotonic() < until_s, f"never met: {missing}, but {figures}"
        seed += CLIENTS
        await load_faults(port, 400, clients=CLIENTS, seed=seed, ends=warm)


def _check_ends(warm: Ends, ends: Ends, after: dict[str, float], written: list[RequestRecord]) -> None:
    """Every request ended exactly once, and as its client saw it."""
    times_ended = Counter(record.id for record in written)
    assert set(times_ended.values()) == {1}
    assert set(warm.ids + ends.ids) <= times_ended.keys()
    answered = len(warm.ids) + len(ends.ids)
    # A client that cut its connection at once may have taken its request back before it was read.
    assert answered <= len(written) <= answered + warm.left + ends.left
    assert len(written) == after["requests"], "refusals are among them"
    assert sum(record.status == 200 and not record.reason for record in written) >= warm.whole + ends.whole
    assert ends.whole >= WHOLE_SHARE_MIN * (ends.count - ends.left)


async def _records(path: Path, count: float) -> list[RequestRecord]:
    """What was written down, once it is that much."""
    async with asyncio.timeout(RECORDS_S_MAX):
        while len(lines := path.read_bytes().splitlines()) < count:
            await asyncio.sleep(0.05)
    return [msgspec.json.decode(line, type=RequestRecord) for line in lines]
