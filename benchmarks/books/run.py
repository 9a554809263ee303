"""`make bench-books`: CPU that the supervisor takes to bring a request's record from a spool into the store.

Workers' segments are written first and are not counted; then a collector moves them into SQLite as it does while
serving, a second's worth at a time. Compare only within one run.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path
from statistics import median

from heterodyne.books.collector import Collector
from heterodyne.books.encoding import BATCH_MAX, OpeningForm, encode_batch, encode_finished
from heterodyne.books.segment import SegmentWriter, segment_path
from heterodyne.console.live.recent_activity import RecentActivity
from heterodyne.domain.usage import UsageOpening
from heterodyne.stores.open_store import books_in, open_database

KEYS, MODELS = 50, 3
LIFE = "0" * 8


def main() -> None:
    """Print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rates", type=int, nargs="*", default=[100, 1000, 5000], help="requests a second")
    parser.add_argument("--seconds", type=int, default=20, help="of requests at each rate")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(f"{'requests/s':>10}  {'CPU µs/record':>13}  rounds")
    for rate in options.rates:
        rounds = [asyncio.run(_collected_us(rate, options.seconds)) for _ in range(options.rounds)]
        print(f"{rate:>10,}  {median(rounds):>13.1f}  {', '.join(f'{one:.1f}' for one in sorted(rounds))}")


async def _collected_us(rate: int, seconds: int) -> float:
    with tempfile.TemporaryDirectory(prefix="heterodyne-books-") as temporary:
        folder = Path(temporary) / "spool"
        folder.mkdir()
        seconds_of = [_batches(rate, second) for second in range(seconds)]
        database = await open_database(f"sqlite:{temporary}/books.db", {})
        activity = RecentActivity()
        collector = Collector(folder, books_in(database), on_added=activity.on_added)
        spent_s = 0.0
        for number, batches in enumerate(seconds_of):
            writer = SegmentWriter(segment_path(folder, "worker-0", LIFE, number))
            for batch in batches:
                writer.append(batch)
            writer.close()
            begun_s = time.process_time()
            await collector.collect()
            spent_s += time.process_time() - begun_s
        await database.close()
        assert activity.taken == rate * seconds == collector.state.collected
    return spent_s * 1e6 / (rate * seconds)


def _batches(rate: int, second: int) -> list[bytes]:
    """As a worker flushes them, four times a second."""
    forms = [OpeningForm(_opening(key, model)) for key in range(KEYS) for model in range(MODELS)]
    records = []
    for number in range(rate):
        at = 1_790_000_000.0 + second + number / rate
        opening = forms[number % len(forms)].fill(f"req-{LIFE}-{second * rate + number:08x}", at)
        records.append((encode_finished(opening, _ending(number)), len(opening)))
    size = min(BATCH_MAX, -(-rate // 4))
    return [encode_batch(records[start : start + size]) for start in range(0, rate, size)]


def _opening(key: int, model: int) -> UsageOpening:
    return UsageOpening(
        id="",
        at=0.0,
        organisation=f"organisation-{key % 5}",
        project=f"project-{key % 10}",
        key=f"key-{key:08d}",
        tier="gold",
        urgency="",
        operation="chat",
        model=f"model-{model}",
        version="1",
        pool=f"pool-{model}",
        replica=f"pool-{model}-0",
        hardware="h100",
    )


def _ending(number: int) -> tuple[object, ...]:
    ttft_ms, itl_ms = 20.0 + number % 97, 5.0 + number % 13 / 10
    tokens = 40 + number % 50
    # fmt: off
    return (
        200, "", 300 + number % 40, 128, tokens, 0, False, None, ttft_ms, itl_ms, ttft_ms + tokens * itl_ms,
        21.5 + number % 80, 5.4, 120 + number % 30, False, 0, False, 0, 0.0125, "kept", 0,
    )
    # fmt: on


if __name__ == "__main__":
    main()
