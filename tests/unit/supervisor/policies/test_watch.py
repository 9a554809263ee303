"""What workers count and find is kept by the minute, also where the database is away for a while."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from heterodyne.domain.errors import StoreUnavailable
from heterodyne.domain.guard_hit import GuardHit, GuardHitQuery
from heterodyne.domain.guard_verdict import GuardVerdict
from heterodyne.domain.policy_count import PolicyCount
from heterodyne.domain.request import Request
from heterodyne.gateway.guards.hits import HITS_OF_REQUEST_MAX, SENT_MAX, GuardHits, HitsAsked, HitsSeen
from heterodyne.supervisor.policies.watch import PolicyWatch
from heterodyne.telemetry import metrics
from heterodyne.telemetry.exposition import write_samples
from heterodyne.telemetry.meters import Sample

MISS = ("kept", "m", "miss")
VERDICT = GuardVerdict(policy="p", guard="pii", version="1", rule="email", action="mask", direction="input")


class Kept:
    """A database that may be away."""

    def __init__(self) -> None:
        self.is_away = False
        self.counts_of: dict[int, float] = {}
        self.found: list[GuardHit] = []
        self.forgotten = 0

    async def add_counts(self, minute: int, counts: Sequence[PolicyCount]) -> None:
        if self.is_away:
            raise StoreUnavailable("away")
        self.counts_of[minute] = self.counts_of.get(minute, 0.0) + sum(one.amount for one in counts)

    async def counts(self, since_at: float, until_at: float) -> tuple[PolicyCount, ...]:
        raise NotImplementedError

    async def add_hits(self, hits: Sequence[GuardHit]) -> None:
        self.found += hits

    async def hits(self, query: GuardHitQuery) -> tuple[GuardHit, ...]:
        raise NotImplementedError

    async def forget(self, before_at: float, rows_max: int, *, hits_max: int) -> int:
        self.forgotten += 1
        return 0


class Seen:
    """A supervisor's view of one worker."""

    def __init__(self, run_dir: Path) -> None:
        self.run_dir, self.store, self.now, self.is_on = run_dir, Kept(), 600.0, True
        self.hits = GuardHits(lambda: self.now)
        self.watch = PolicyWatch(
            self.store,
            run_dir,
            self._fetch,
            is_on=lambda: self.is_on,
            history_days=lambda: 14,
            wall_clock=lambda: self.now,
        )

    async def _fetch(self, asked: Mapping[str, HitsAsked]) -> dict[str, HitsSeen]:
        return {"worker-0": self.hits.since(asked.get("worker-0", HitsAsked()))}

    async def look(self, misses: float) -> None:
        samples = [
            Sample(metrics.cache_answers.name, MISS, [misses]),
            Sample(metrics.cache_entries.name, (), [misses / 2]),
        ]
        write_samples(self.run_dir, "worker-0", samples)
        await self.watch.look()


def request(id: str = "r") -> Request:
    return Request(id=id, operation="chat", model="m", body=b"")


async def test_counts_go_to_their_minute_and_findings_once(tmp_path: Path) -> None:
    seen = Seen(tmp_path)
    seen.hits.of_request(request("r1"), "acme/a", "m")(VERDICT)
    await seen.look(4.0)
    seen.now = 655.0
    await seen.look(6.0)
    seen.now = 661.0
    seen.hits.of_request(request("r2"), "acme/a", "m")(VERDICT)
    await seen.look(9.0)
    assert seen.store.counts_of == {600: 6.0, 660: 3.0}
    assert [one.request for one in seen.store.found] == ["r1", "r2"]
    now = seen.watch.now()
    assert now.gauges == {(metrics.cache_entries.name, ()): 4.5}
    assert now.last_minute == {(metrics.cache_answers.name, MISS): 5.0}
    assert seen.store.forgotten == 1


async def test_what_the_database_does_not_take_waits(tmp_path: Path) -> None:
    seen = Seen(tmp_path)
    seen.store.is_away = True
    seen.hits.of_request(request(), "acme/a", "m")(VERDICT)
    for misses in (2.0, 3.0):
        with pytest.raises(StoreUnavailable):
            await seen.look(misses)
        seen.now += 60
    seen.store.is_away = False
    await seen.look(7.0)
    assert seen.store.counts_of == {600: 2.0, 660: 1.0, 720: 4.0}
    assert len(seen.store.found) == 1


async def test_where_nothing_is_set_nothing_is_followed(tmp_path: Path) -> None:
    seen = Seen(tmp_path)
    seen.is_on = False
    await seen.look(4.0)
    assert (seen.store.counts_of, seen.store.forgotten) == ({}, 1)


def test_a_request_with_thousands_of_findings_keeps_some_and_counts_all() -> None:
    hits = GuardHits(lambda: 1.0)
    before = metrics.guard_verdicts.cell(("p", "pii", "email", "mask", "input"))[0]
    note = hits.of_request(request(), "acme/a", "m")
    for _ in range(3000):
        note(VERDICT)
    assert metrics.guard_verdicts.cell(("p", "pii", "email", "mask", "input"))[0] == before + 3000
    assert len(hits.since(HitsAsked()).hits) == HITS_OF_REQUEST_MAX


def test_findings_are_fetched_in_parts_and_another_life_begins_anew() -> None:
    hits = GuardHits(lambda: 1.0)
    for number in range(7000):
        hits.add(f"r{number}", "acme/a", "m", VERDICT)
    first = hits.since(HitsAsked())
    assert (first.found, first.hits[0].request, len(first.hits)) == (3000, "r2000", SENT_MAX)
    second = hits.since(HitsAsked(life=first.life, found=first.found))
    assert (second.found, second.hits[0].request) == (4000, "r3000")
    assert hits.since(HitsAsked(life=first.life, found=7000)).hits == ()
    assert hits.since(HitsAsked(life="another", found=7000)).hits[0].request == "r2000"
