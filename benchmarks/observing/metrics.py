"""What counting one finished request in all metrics costs."""

import gc
import platform
import random
import statistics
import time

from heterodyne.domain.operation import Operation
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.routing_rule import Reason
from heterodyne.domain.urgency import Tier, Urgency
from heterodyne.telemetry import exposition, metrics
from heterodyne.telemetry.request_meters import RequestMeters

RECORDS, LABEL_SETS, REPEATS = 1000, 20, 201
TARGET_US = 5.0


def main() -> None:
    """Print the median of repeats, of processor time: others on the machine are not what is measured."""
    chance = random.Random(7)
    records = [_record(index, chance) for index in range(RECORDS)]
    meters = RequestMeters()
    times_us = []
    gc.disable()
    for _ in range(REPEATS):
        began_s = time.process_time()
        for record in records:
            meters.observe(record)
        times_us.append((time.process_time() - began_s) / RECORDS * 1e6)
    gc.enable()
    empty_us = _empty_us(records)
    began_s = time.process_time()
    page = exposition.render(metrics.ALL, exposition.own_samples(metrics.ALL))
    page_s = time.process_time() - began_s
    print(f"Python {platform.python_version()}: {RECORDS} requests of {LABEL_SETS} label sets, {REPEATS} times")
    print(f"  one request: median {statistics.median(times_us):.2f} us, best {min(times_us):.2f} us ", end="")
    print(f"(target {TARGET_US:g} us), of which the loop itself {empty_us:.2f} us")
    print(f"  a page of {len(page) // 1024} KiB, {len(page.splitlines())} lines: {page_s * 1e3:.0f} ms")


def _empty_us(records: list[RequestRecord]) -> float:
    times_us = []
    for _ in range(REPEATS):
        began_s = time.process_time()
        for record in records:
            _nothing(record)
        times_us.append((time.process_time() - began_s) / RECORDS * 1e6)
    return statistics.median(times_us)


def _nothing(_: RequestRecord) -> None:
    """What a call costs that does nothing."""


def _record(index: int, chance: random.Random) -> RequestRecord:
    """A streamed chat as the gateway writes it down; one in fifty has failed, one in four has waited for its turn."""
    kind = index % LABEL_SETS
    has_failed = index // LABEL_SETS % 50 == 49
    ttft_ms = chance.lognormvariate(5.0, 1.0)
    return RequestRecord(
        id=f"req_{index}",
        at=float(index),
        operation=Operation.CHAT,
        model=f"model-{kind % 4}",
        pool=f"pool-{kind % 5}",
        replica=f"pool-{kind % 5}-{index % 7}",
        hardware=("h100", "h200", "mi300x", "tpu-v5e", "")[kind % 5],
        status=502 if has_failed else 200,
        reason="engine_unavailable" if has_failed else "",
        stream=True,
        prompt_tokens=0 if has_failed else chance.randrange(10, 8000),
        cached_tokens=0 if has_failed else chance.randrange(10),
        completion_tokens=0 if has_failed else chance.randrange(1, 1000),
        ttft_ms=None if has_failed else ttft_ms,
        itl_ms=None if has_failed else chance.lognormvariate(3.0, 0.5),
        total_ms=ttft_ms + chance.lognormvariate(7.0, 1.0),
        tenant=f"organisation/project-{index}",
        tier=(Tier.GOLD, Tier.SILVER)[kind % 2],
        urgency="" if kind % 4 else Urgency.BATCH,
        queue_ms=chance.lognormvariate(3.0, 2.0) if chance.random() < 0.25 else None,
        decision=Reason.FASTEST,
        predicted_ttft_ms=ttft_ms * chance.lognormvariate(0.0, 0.3),
        predicted_itl_ms=20.0,
        usd=None if has_failed else chance.random() / 1000,
        replica_s=0.0 if has_failed else chance.random(),
        promise="broken" if has_failed else "kept",
        overhead_ms=chance.lognormvariate(-2.0, 0.5),
        connect_ms=None if has_failed else chance.lognormvariate(-2.0, 1.0),
    )


if __name__ == "__main__":
    main()
