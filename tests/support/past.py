"""A day that never was, for pictures: three tenants on the mixed fleet, a pool that has become slow of late, versions
in the registry, rollouts that are over, and batches."""

from collections.abc import Iterator
from math import pi, sin
from pathlib import Path
from random import Random

from heterodyne.domain.usage import UsageRecord
from heterodyne.stores.open_store import documents_in, models_in, rollouts_in
from heterodyne.stores.sql.schema.catalogue import MIGRATIONS
from heterodyne.stores.sqlite.books import SqliteBooks
from heterodyne.stores.sqlite.database import SqliteDatabase
from tests.support.past_batches import write_past_batches
from tests.support.past_rollouts import write_past_rollouts
from tests.support.registered_models import fill_registry

HOURS = 26
SLOW_POOL, SLOW_MINUTES, SLOWDOWN = "mi300x", 45, 6.0
PROMISED_MS = 500.0
RECORDS_AT_ONCE = 500  # so that each write is within its deadline on a busy machine
# Of each pool: its hardware, how often it is chosen, its TTFT, its ITL, and its dollars an hour.
POOLS = (
    ("h100", "h100-sxm", 0.34, 42.0, 7.4, 1.80),
    ("h200", "h200-sxm", 0.30, 36.0, 5.1, 2.35),
    ("mi300x", "mi300x", 0.26, 38.0, 4.9, 1.50),
    ("tpu-v5e", "tpu-v5e", 0.10, 55.0, 8.8, 4.80),
)
TENANTS = (("acme/search", "gold"), ("acme/batch", "bronze"), ("globex/support", "silver"))


async def write_past(state_dir: Path, now: float, seed: int = 7) -> int:
    """Into the database that a gateway with this state folder opens; how many requests it has."""
    records = tuple(_records(now, Random(seed)))
    folder = state_dir / "heterodyne"
    folder.mkdir(parents=True, mode=0o700)
    database = await SqliteDatabase.open(folder / "heterodyne.db", MIGRATIONS)
    try:
        books = SqliteBooks(database)
        for first in range(0, len(records), RECORDS_AT_ONCE):
            await books.add(records[first : first + RECORDS_AT_ONCE])
        await fill_registry(models_in(database))
        await write_past_rollouts(rollouts_in(database), now)
        await write_past_batches(documents_in(database), now)
    finally:
        await database.close()
    return len(records)


def _records(now: float, chance: Random) -> Iterator[UsageRecord]:
    for minute in range(HOURS * 60, 0, -1):
        at = now - 60 * minute
        busy = 1.0 + 0.7 * sin(2 * pi * (at % 86400) / 86400 - 2.2)
        for number in range(chance.randint(2, 4) + round(4 * busy)):
            yield _record(at + 60 * chance.random(), f"{minute:05d}{number:03d}", minute <= SLOW_MINUTES, chance)


def _record(at: float, name: str, is_late: bool, chance: Random) -> UsageRecord:
    pool, hardware, _, ttft_ms, itl_ms, usd_per_hour = chance.choices(POOLS, [one[2] for one in POOLS])[0]
    project, tier = chance.choices(TENANTS, (5, 2, 3))[0]
    prompt_tokens, completion_tokens = round(chance.lognormvariate(6.2, 0.8)), round(chance.lognormvariate(4.6, 0.7))
    predicted_ms = ttft_ms * (0.6 + prompt_tokens / 900)
    slowdown = SLOWDOWN if is_late and pool == SLOW_POOL else 1.0
    actual_ms = predicted_ms * slowdown * chance.lognormvariate(0.0, 0.12)
    itl_actual_ms = itl_ms * slowdown * chance.lognormvariate(0.0, 0.06)
    replica_s = 1e-5 * prompt_tokens + 2e-4 * completion_tokens
    return UsageRecord(
        id=f"req_past{name}",
        at=at,
        organisation=project.partition("/")[0],
        project=project,
        key=f"k_{project.replace('/', '_')}",
        tier=tier,
        urgency="batch" if project == "acme/batch" else "interactive",
        operation="chat",
        model="llama-3.1-8b",
        pool=pool,
        replica=f"{pool}-0",
        hardware=hardware,
        status=200,
        prompt_tokens=prompt_tokens,
        cached_tokens=round(prompt_tokens * chance.random() * 0.6),
        completion_tokens=completion_tokens,
        ttft_ms=actual_ms,
        itl_ms=itl_actual_ms,
        total_ms=actual_ms + completion_tokens * itl_actual_ms,
        predicted_ttft_ms=predicted_ms,
        predicted_itl_ms=itl_ms,
        usd_micro=round(usd_per_hour / 3600 * replica_s * 1e6),
        replica_s=replica_s,
        promise="kept" if actual_ms <= PROMISED_MS else "broken",
    )
